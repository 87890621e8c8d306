/*
 * The configurations of a run (struct run_plan in options.h), on every rank: the product of the axes, and of
 * the kernels timed alone; solvers only multiply spectral encodings. Axes vary in the order of axes_swept,
 * kernels slowest. Rows point to theirs.
 */
#ifndef GTMARK_BENCH_PLAN_H
#define GTMARK_BENCH_PLAN_H

#include "bench/cli/config.h"

/* The number of combinations; beyond AXIS_VALUES_MAX, some number beyond it. */
int64_t plan_combinations(const struct options *o);

/* Expands at most AXIS_VALUES_MAX combinations, without those that measure nothing, unless all do. */
void plan_make(struct options *o);

/* The configuration at an index, with another value of the axis of a search. */
struct config plan_with(const struct options *o, int64_t index, enum axis searched, double value);

/* The smallest value in a search for the largest, of which the others are multiples. */
int64_t config_step(const struct options *o, const struct config *c);

/* The form of an op for which the device has no kernel; null: none, or the model is impossible. */
const char *config_missing_op(const struct options *o, const struct config *c);

/* Whether a sweep skips the row, for want of a kernel or of work for all ranks, and why. */
enum { SKIP_REASON = 256 };
bool config_is_skipped(const struct options *o, const struct config *c, char reason[SKIP_REASON]);

/* The axes whose value is not that of the configuration's preset: "layers, hidden"; "" without any. */
void config_changes(const struct config *c, char *text, size_t size);

#endif
