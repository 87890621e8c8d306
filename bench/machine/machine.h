/* Facts about the machine and the build that a result file carries. */
#ifndef GTMARK_BENCH_MACHINE_H
#define GTMARK_BENCH_MACHINE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Cores granted to the process: its affinity, and its control group's quota where there is one. */
int machine_cores(void);

/* The threads that a value of --threads means: 0 is the cores granted. */
int machine_threads(double asked);

/* Bytes that the process can still take: what the kernel calls available, within its control group's limit.
 */
int64_t machine_memory_free(void);

/* The record's context: host, devices (an array, which it takes over), libraries, compiler, flags, commit,
 * seed. */
json_t *machine_context(json_t *devices, uint64_t seed);

/* What --version prints. */
void machine_version(const char *program, FILE *out);

#endif
