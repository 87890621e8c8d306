/*
 * --find-max-nodes: for each combination of the other axes, the largest graph that fits a limit of memory or
 * of latency, by doubling and bisection. Memory is planned, so the size is exact to the node. Latency is
 * measured with a few runs, so the size is within one percent and as reliable as these measurements.
 */
#ifndef GTMARK_BENCH_LARGEST_H
#define GTMARK_BENCH_LARGEST_H

#include "bench/cli/options.h"

/* Finds the sizes, and says each on stderr. False with a message, or after a signal without one. */
bool largest_find(struct options *o, struct message *error);

#endif
