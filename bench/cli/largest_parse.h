/* What --find-max-nodes asks for. */
#ifndef GTMARK_BENCH_LARGEST_PARSE_H
#define GTMARK_BENCH_LARGEST_PARSE_H

#include <stdint.h>

#include "bench/base/message.h"

enum largest_kind { LARGEST_NONE, LARGEST_MEMORY, LARGEST_LATENCY };

struct largest {
    enum largest_kind kind;
    double limit;   /* bytes or seconds; of memory 0: nine tenths of what is free */
    int64_t *nodes; /* that were found, for each configuration; 0: none fits; null before */
};

/* Reads "memory", "memory:4GiB" or "latency:100ms"; false with a message. */
bool largest_parse(const char *text, struct largest *l, struct message *error);

#endif
