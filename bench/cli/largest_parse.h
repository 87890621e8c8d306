/* The argument of --find-max: AXIS=LIMIT. */
#ifndef GTMARK_BENCH_LARGEST_PARSE_H
#define GTMARK_BENCH_LARGEST_PARSE_H

#include <stdint.h>

#include "bench/base/message.h"
#include "bench/cli/axes.h"

enum largest_kind { LARGEST_NONE, LARGEST_MEMORY, LARGEST_LATENCY };

struct largest {
    enum largest_kind kind;
    enum axis axis; /* nodes, batch, layers or hidden */
    double limit;   /* bytes or seconds; 0: 90 % of free memory */
    int64_t *found; /* per configuration; 0: not even the smallest value fits; null before the search */
};

/* Parses "nodes=memory", "batch=memory:4GiB" or "layers=latency:100ms"; false with a message. */
bool largest_parse(const char *text, struct largest *l, struct message *error);

#endif
