/* What a program's exchange with other ranks takes. */
#ifndef GTMARK_BENCH_EXCHANGE_H
#define GTMARK_BENCH_EXCHANGE_H

#include "models/tape/tape.h"

/* The most runs of each kind, and the seconds after which no more begin. */
enum { EXCHANGE_RUNS = 10, EXCHANGE_SECONDS = 5 };

struct exchange {
    int n;            /* runs of each kind */
    int64_t sent;     /* payload bytes that this rank sends in a run */
    double alone;     /* median seconds of a run of nothing else */
    double exposed;   /* of what this rank spends in it, and waiting for it, in a whole run */
    double bandwidth; /* bytes a second between ranks: the bus bandwidth of nccl-tests */
};

/* For a tape that is laid out, initialised and leads: so many runs, at most EXCHANGE_RUNS; 0: by time. */
struct exchange exchange_measure(struct tape *t, int runs);

#endif
