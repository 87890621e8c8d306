/*
 * The measurement of a row. A sweep visits each row once or, with --interleave, in several turns that only
 * take samples, and a last visit for everything else.
 */
#ifndef GTMARK_BENCH_ROW_H
#define GTMARK_BENCH_ROW_H

#include "analysis/record/row.h"
#include "bench/row/job.h"
#include "bench/row/result.h"

/* Takes one of `turns` parts of the samples of every program into job->samples. */
void row_take_turn(const struct job *job, int turns);

/*
 * Takes the samples that no turn took, runs the passes and writes the row: complete by the schema in any
 * case. Null after a signal.
 */
struct row *row_measure(const struct job *job);

/* The row of a configuration that is not attempted. */
struct row *row_skip(const struct job *job, const char *reason);

#endif
