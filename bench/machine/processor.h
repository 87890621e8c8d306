/* What a processor is called. */
#ifndef GTMARK_BENCH_PROCESSOR_H
#define GTMARK_BENCH_PROCESSOR_H

#include <stddef.h>

/*
 * The "model name" of /proc/cpuinfo; on ARM, which has none, the name of the core of the first processor by
 * its main ID register ("Neoverse V2"), or that register's fields if the core is not known here. "unknown" if
 * the kernel says neither. `root` is put before paths: "".
 */
void processor_name(const char *root, char *name, size_t size);

#endif
