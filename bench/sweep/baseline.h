/*
 * --baseline: which rows are slower than in an older result file.
 *
 * The machine may have changed between the two runs, so a difference must exceed a margin: 5 %, or the spread
 * between blocks of samples where that is more, in this run or the older one. For the spread to show such
 * changes, the samples are taken in turns over the whole run (--interleave).
 */
#ifndef GTMARK_BENCH_BASELINE_H
#define GTMARK_BENCH_BASELINE_H

#include <stdio.h>

#include "analysis/record/row.h"
#include "models/layers/model.h"

/* Compares these programs, and encodings where they were timed, and prints the comparison. Returns how many
 * are slower; -1 where not one could be compared. */
int baseline_judge(const struct rows *base, const struct rows *rows, const bool programs[PROGRAMS],
                   FILE *out);

#endif
