/* Facts about the machine and the build, for the result file. */
#ifndef GTMARK_BENCH_MACHINE_H
#define GTMARK_BENCH_MACHINE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Cores granted to the process: its affinity, limited by the quota of its control group. */
int machine_cores(void);

/* The number of threads for a value of --threads: 0 is the cores granted. */
int machine_threads(double asked);

/* Bytes that the process can still allocate: available memory, within the limit of its control group. */
int64_t machine_memory_free(void);

/* The context of a record: host, devices (an array whose reference it takes), libraries, compiler, flags,
 * commit, seed. */
json_t *machine_context(json_t *devices, uint64_t seed);

/* What --version prints. */
void machine_version(const char *program, FILE *out);

#endif
