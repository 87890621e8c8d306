/* Facts about the machine and the build, for the result file. */
#ifndef GTMARK_BENCH_MACHINE_H
#define GTMARK_BENCH_MACHINE_H

#include "analysis/record/value.h"

#include <stdint.h>
#include <stdio.h>

/* Cores granted to the process: its affinity, limited by the quota of its control group. */
int machine_cores(void);

/* The number of threads for a value of --threads: 0 is the cores granted. */
int machine_threads(double asked);

/* Bytes that the process can still allocate: available memory, within the limit of its control group. */
int64_t machine_memory_free(void);

/* The context of a record: host, devices (an array, which it takes over), libraries, compiler, flags,
 * commit, seed. */
struct value *machine_context(struct value *devices, uint64_t seed);

/* What --version prints. */
void machine_version(const char *program, FILE *out);

#endif
