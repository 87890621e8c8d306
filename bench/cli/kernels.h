/* The kernels that a benchmark of ops times: one row for each op and variant of the device's backend. */
#ifndef GTMARK_BENCH_KERNELS_H
#define GTMARK_BENCH_KERNELS_H

#include "bench/cli/options.h"
#include "bench/cli/syntax.h"

/* Reads a comma list of ops (--op). */
bool kernels_read(const struct argument *a, struct message *error);

/*
 * Fills o->kernels where the benchmark is of ops: those of --op, or all, in the order of ops.def; of each the
 * variants of the backend and of those below it, or the one of --impl. What is left out is said on stderr.
 * False with a message where the flags do not fit the benchmark. To be freed.
 */
bool kernels_choose(struct options *o, struct message *error);

#endif
