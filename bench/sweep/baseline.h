/*
 * --baseline: which rows are slower than in an older result file.
 *
 * The machine may have changed between the two runs, so a difference must exceed a margin: 5 %, or the spread
 * between blocks of samples where that is more, in this run or the older one. For the spread to show such
 * changes, samples are taken in turns over the whole run.
 *
 * A program is slower if the whole interval of the ratio lies beyond the margin. A ratio beyond it is not
 * enough: the margin stands for what the machine itself changes from run to run, and an interval that reaches
 * into it does not exclude that this is all there is. So a slowdown is found if it exceeds the margin by half
 * the width of the interval; where noise makes that too much, --against is the gate to use.
 */
#ifndef GTMARK_BENCH_BASELINE_H
#define GTMARK_BENCH_BASELINE_H

#include <stdio.h>

#include "analysis/record/record.h"
#include "bench/cli/options.h"

/* Compares these programs, and encodings if they were timed, and prints the comparison. Returns the number of
 * misses (gate_pairs.h). */
int baseline_judge(const struct rows *base, const struct rows *rows, const bool programs[PROGRAMS],
                   struct lenience how, FILE *out);

/* Compares what is planned (analysis/compare/exact.h): rows of the record `now` with those of another. */
int baseline_judge_exact(const struct record *base, const struct record *now, const struct rows *rows,
                         const bool programs[PROGRAMS], struct lenience how, FILE *out);

#endif
