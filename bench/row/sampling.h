/* Sampling the programs of a row, in one or several turns. */
#ifndef GTMARK_BENCH_SAMPLING_H
#define GTMARK_BENCH_SAMPLING_H

#include "bench/row/job.h"

/* Resets to the initial state. With --cuda-graph captures the program as one graph, after a plain run. */
void sampling_reset(const struct options *o, struct tape *t);

/*
 * Samples a loaded program and adds to the job's samples: 1 / turns of the runs, of the minimum samples and
 * of the budget. No run begins after the deadline (clock time).
 */
void sampling_turn(const struct job *job, enum program_kind kind, const struct recording *r, int turns,
                   double deadline);

/* Warns of disturbances of the samples. */
void sampling_warn(const struct samples *s, const char *program);

#endif
