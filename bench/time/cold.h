/* Time with emptied caches: what a program takes that finds none of its operands where the last run left
 * them. */
#ifndef GTMARK_BENCH_COLD_H
#define GTMARK_BENCH_COLD_H

#include "bench/time/flush.h"
#include "models/tape/tape.h"

enum { COLD_MIN = 3, COLD_DEFAULT = 5, COLD_MAX = 1000 };

struct cold {
    int n;
    double median, min; /* seconds of a run */
    int64_t flushed;    /* bytes written before each */
};

/*
 * Times runs of a tape that has run before, each after a flush, which is not in its time: at most `runs` (up
 * to COLD_MAX), and no more than COLD_MIN once they have taken `seconds`.
 */
struct cold cold_measure(struct tape *t, const struct flush *f, int runs, double seconds);

#endif
