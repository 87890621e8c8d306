/* The largest whole number whose need is within a limit. */
#ifndef GTMARK_BENCH_WITHIN_H
#define GTMARK_BENCH_WITHIN_H

#include <stdbool.h>
#include <stdint.h>

enum { WITHIN_PROBES = 5 };

struct within {
    double (*need)(void *context, int64_t x); /* INFINITY: cannot be done */
    void *context;
    double limit;
    int64_t first, most; /* tried first; the largest allowed */
    bool noisy;          /* needs vary: the median of WITHIN_PROBES counts near the limit and of the answer */
};

/*
 * fits needs at_fits, within the limit, or is 0 if nothing fits; fails needs more, or is most + 1. They are
 * neighbours, of noisy needs at most a hundredth apart. A need that does not grow with x has several such
 * places, of which this is one. Unsure: when measured again at the end, the two contradicted what was found,
 * and so did each place found after that.
 */
struct within_answer {
    int64_t fits, fails, clear; /* clear: the largest tried that needs 1.25 times less than the limit */
    double at_fits, at_fails;
    bool unsure;
};

/* After a signal the answer means nothing. */
struct within_answer within_find(const struct within *w);

#endif
