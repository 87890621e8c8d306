/*
 * --find AXIS=LIMIT: for each combination of the other axes, the largest value of one axis (nodes, batch,
 * layers, or hidden in steps of the heads) within a limit of memory or latency. Memory and, with --device
 * meta, predicted times are planned, so the value is exact. Latency is measured by quick runs, of which, as
 * of the row, the median counts (bench/sweep/within.h). The row of that value then decides, by its range.
 */
#ifndef GTMARK_BENCH_LARGEST_H
#define GTMARK_BENCH_LARGEST_H

#include "analysis/record/record.h"
#include "analysis/statistics/range.h"
#include "bench/base/quantity.h"
#include "bench/cli/options.h"

/* Finds the values and prints each on stderr; a limit of latency becomes a gate of their rows. False after a
 * signal. */
bool largest_find(struct options *o);

/* A limit, or a need, in the units in which the limit was given. */
void largest_text(const struct options *o, double value, char text[QUANTITY_TEXT]);

/* What the time of a row says of the search that chose it. */
enum find_verdict {
    FIND_HOLDS,
    FIND_OPEN,     /* some of its range is beyond the limit */
    FIND_BEYOND,   /* all of it is */
    FIND_DISTURBED /* it is so much shorter that the search was disturbed, and more may fit */
};

enum find_verdict largest_verdict(double limit, double searched, const struct range *row);

/* Prints what fits by the rows, in the order of the plan, if a latency was searched for: the value, or that
 * it is inconclusive, and between which. */
void largest_answer(const struct options *o, const struct rows *rows, FILE *out);

#endif
