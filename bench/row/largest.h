/*
 * --find-max-nodes: for each combination of the other axes, the largest graph that fits a limit of memory or
 * of latency, by doubling and bisection. Memory is planned, so the size is exact to the node. Latency is
 * measured with a few runs, so the size is within one percent and as reliable as these measurements.
 */
#ifndef GTMARK_BENCH_LARGEST_H
#define GTMARK_BENCH_LARGEST_H

#include <stdint.h>

#include "bench/base/message.h"

struct options;

enum largest_kind { LARGEST_NONE, LARGEST_MEMORY, LARGEST_LATENCY };

struct largest {
    enum largest_kind kind;
    double limit;   /* bytes or seconds; of memory 0: nine tenths of what is free */
    int64_t *nodes; /* that were found, for each configuration; 0: none fits; null before */
};

/* Reads "memory", "memory:4GiB" or "latency:100ms"; false with a message. */
bool largest_parse(const char *text, struct largest *l, struct message *error);

/* Whether the other flags go together with it; gives the axis of nodes one value. */
bool largest_possible(struct options *o, struct message *error);

/* Finds the sizes, and says each on stderr. False with a message, or after a signal without one. */
bool largest_find(struct options *o, struct message *error);

#endif
