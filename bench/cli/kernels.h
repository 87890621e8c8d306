/* The kernels timed by a benchmark of ops: one row per op and variant on the device's backend. */
#ifndef GTMARK_BENCH_KERNELS_H
#define GTMARK_BENCH_KERNELS_H

#include "bench/cli/options.h"
#include "bench/cli/syntax.h"

/* Reads a comma list of ops, each with its options: attention+mask (--op). */
bool kernels_read(const struct argument *a, struct message *error);

/*
 * Fills o->kernels for a benchmark of ops: the forms of --op, or all with at most one option, in the order of
 * ops.def; for each the variants of the backend and of those below it, or the one of --impl. Notes omitted
 * ops on stderr. False with a message if the flags do not fit the benchmark. The caller frees o->kernels.
 */
bool kernels_choose(struct options *o, struct message *error);

#endif
