/*
 * What is measured of a program after its samples, in passes of its own, since each would have disturbed
 * them. The program is laid out; each pass leaves it so, in a state that pass_prepare ends.
 */
#ifndef GTMARK_BENCH_PASSES_H
#define GTMARK_BENCH_PASSES_H

#include "bench/row/measure.h"

/* Of which row and program. */
struct pass {
    const struct job *job;
    json_t *row;
    const struct batch *batch;
    enum program_kind kind;
};

/* To the initial state; a program that is to be one graph runs once before it becomes one. */
void pass_prepare(const struct options *o, struct tape *t);

/* Time with emptied caches, and of launching. Programs that were sampled in turns (`taken`) are in memory
 * anew. */
void pass_time_otherwise(const struct pass *m, struct tape *t, bool taken);

/* What the GPU said while it was sampled; and its energy. */
void pass_look_at_gpu(const struct pass *m, struct tape *t, const struct samples *s);

/* FLOPs as they were executed. */
void pass_count_executed(const struct pass *m, struct tape *t);

/* What --profile, --trace and bench_model show beside the row. */
void pass_pictures(const struct pass *m, struct tape *t, int samples);

#endif
