/*
 * --find-max-nodes: for each combination of the other axes, the largest graph within a limit of memory or
 * latency, by doubling and bisection. Memory is planned, so the size is exact. Latency is measured with a few
 * runs, so the size is within one percent and as reliable as these measurements.
 */
#ifndef GTMARK_BENCH_LARGEST_H
#define GTMARK_BENCH_LARGEST_H

#include "bench/cli/options.h"

/* Finds the sizes and prints each on stderr. False with a message, or without one after a signal. */
bool largest_find(struct options *o, struct message *error);

#endif
