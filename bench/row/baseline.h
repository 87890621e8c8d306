/*
 * An older result file as the measure of a run: which rows are slower than they were.
 *
 * Between two runs lie hours and other neighbours on the machine, so a difference must exceed a margin: 5 %,
 * or the drift between blocks of samples where that is more, of this run or of the older one. To show that
 * drift the samples are taken in turns over the whole run (--interleave).
 */
#ifndef GTMARK_BENCH_BASELINE_H
#define GTMARK_BENCH_BASELINE_H

#include "analysis/record/row.h"
#include "bench/base/message.h"
#include "models/layers/model.h"

/* How far the medians of consecutive blocks of samples[n] lie apart, over the median of all; 0 below
 * BASELINE_BLOCKS samples. */
enum { BASELINE_BLOCKS = 5 };
double baseline_drift(const double *samples, size_t n);

/*
 * Of two arrays of rows, prints a line for each program and encoding of each row: ratio to the baseline's
 * with its interval, margin, verdict. The rows without a partner come last, with the reason. Returns how many
 * programs are slower; -1 where not one could be compared.
 */
int baseline_judge(const struct rows *base, const struct rows *rows, const bool programs[PROGRAMS],
                   FILE *out);

#endif
