/* What the system says in lines of files, and what its processor is called. */
#ifndef GTMARK_BENCH_PROCESSOR_H
#define GTMARK_BENCH_PROCESSOR_H

#include <stddef.h>

/* The rest of the first line of a file that begins with `key`, without blanks, colon or quotes around it; or
 * "unknown". */
void system_field(const char *path, const char *key, char *value, size_t size);

/*
 * The "model name" of /proc/cpuinfo; on ARM, which has none, the name of the core of the first processor by
 * its main ID register ("Neoverse V2"), or that register's fields if the core is not known here. "unknown" if
 * the kernel says neither. `root` is put before paths: "".
 */
void processor_name(const char *root, char *name, size_t size);

#endif
