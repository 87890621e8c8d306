/* Facts about the machine and the build, for the result file. */
#ifndef GTMARK_BENCH_MACHINE_H
#define GTMARK_BENCH_MACHINE_H

#include "analysis/record/value.h"
#include "bench/base/message.h"

#include <stdint.h>
#include <stdio.h>

/* Cores granted to the process: those of its threads, limited by the quota of its control groups. */
int machine_cores(void);

/* The number of threads for a value of --threads. 0: the first number of OMP_NUM_THREADS, if it is at least
 * 1, and at most the cores granted; otherwise these. */
int machine_threads(double asked);

/*
 * Bytes that the process can still allocate: available memory, within the limits of its control groups; at
 * least 1, since 0 means no limit to who builds graphs. The other function reads files whose paths begin with
 * `root`.
 */
#define MACHINE_MEMORY_UNKNOWN 0x1p62
int64_t machine_memory_free(void);
int64_t machine_memory_free_under(const char *root);

/* The bytes in a line "KEY: 12 kB" of a file of /proc; -1 without it. */
int64_t machine_bytes(const char *path, const char *key);

/* The context of a record: host, devices (which it takes over), libraries, compiler, flags, commit, seed. */
struct value *machine_context(struct value *devices, uint64_t seed);

/*
 * Whether OpenBLAS's kernels for the processor `core` use less than the instruction set that `backend` is
 * compiled for, with a note that says so: their times are then about that choice. False for an unknown core.
 */
bool machine_blas_is_outdated(const char *core, const char *backend, struct message *note);

/* Whether this build and the processor have the instruction set that GTMARK_ISA names, if it is set. */
bool machine_isa_exists(struct message *error);

void machine_version(const char *program, FILE *out);

/* What the control groups of the process allow it (cgroups(7)): its own and all those above it, of version 1
 * and 2. `root` is put before all paths, normally "". */

/* Processors in which its time is limited; infinity without a limit. */
double control_group_cores(const char *root);

/* Bytes that it can still take, never less than 0; infinity without a limit. */
double control_group_free(const char *root);

#endif
