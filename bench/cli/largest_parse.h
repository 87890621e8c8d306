/* The argument of --find-max-nodes. */
#ifndef GTMARK_BENCH_LARGEST_PARSE_H
#define GTMARK_BENCH_LARGEST_PARSE_H

#include <stdint.h>

#include "bench/base/message.h"

enum largest_kind { LARGEST_NONE, LARGEST_MEMORY, LARGEST_LATENCY };

struct largest {
    enum largest_kind kind;
    double limit;   /* bytes or seconds; 0: 90 % of free memory */
    int64_t *nodes; /* found, per configuration; 0: none fits; null before the search */
};

/* Parses "memory", "memory:4GiB" or "latency:100ms"; false with a message. */
bool largest_parse(const char *text, struct largest *l, struct message *error);

#endif
