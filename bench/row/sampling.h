/* Sampling the programs of a row, in one or several turns. */
#ifndef GTMARK_BENCH_SAMPLING_H
#define GTMARK_BENCH_SAMPLING_H

#include "bench/row/job.h"

/* To the initial state. With --cuda-graph the program becomes one graph, after one run as entries. */
void sampling_reset(const struct options *o, struct tape *t);

/*
 * Samples a loaded program and adds the samples to the job's: one of `turns` parts of the runs, of the fewest
 * samples and of the budget. No run begins after the deadline, of the clock.
 */
void sampling_turn(const struct job *job, enum program_kind kind, const struct recording *r, int turns,
                   double deadline);

/* Prints what may have disturbed the samples. */
void sampling_warn(const struct samples *s, const char *program);

#endif
