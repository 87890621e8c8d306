/*
 * --find AXIS=LIMIT: for each combination of the other axes, the largest value of one axis (nodes, batch,
 * layers, or hidden in steps of the heads) within a limit of memory or latency, by doubling and bisection.
 * Memory is planned, so the value is exact. Latency is measured with a few runs, several times near the
 * limit, and the value is within one percent, or one step, of one that took longer. The row of that value has
 * to meet the limit as well.
 */
#ifndef GTMARK_BENCH_LARGEST_H
#define GTMARK_BENCH_LARGEST_H

#include "bench/cli/options.h"

/* Finds the values and prints each on stderr; a limit of latency becomes a gate of their rows. False after a
 * signal. */
bool largest_find(struct options *o);

#endif
