/*
 * --find-max-nodes: for each combination of the other axes, the largest graph within a limit of memory or
 * latency, by doubling and bisection. Memory is planned, so the size is exact. Latency is measured with a few
 * runs, several times near the limit, and the size is within one percent of one that took longer. The row of
 * that size has to meet the limit as well.
 */
#ifndef GTMARK_BENCH_LARGEST_H
#define GTMARK_BENCH_LARGEST_H

#include "bench/cli/options.h"

/* Finds the sizes and prints each on stderr; a limit of latency becomes a gate of their rows. False with a
 * message, or without one after a signal. */
bool largest_find(struct options *o, struct message *error);

#endif
