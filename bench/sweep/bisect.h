/* Where a function of an axis changes its sign. */
#ifndef GTMARK_BENCH_BISECT_H
#define GTMARK_BENCH_BISECT_H

#include <stdbool.h>

typedef double function(void *context, double x);

struct bracket {
    bool found;
    double low, high, at_low,
        at_high; /* the function at the ends; of opposite signs if found, NAN if unknown */
};

/*
 * Halves 0 < low < high on a logarithmic scale while the signs at the ends differ, until high / low is at
 * most 1 + tolerance or, of whole numbers, the ends are neighbours. Not found if the signs are equal; nor,
 * with an end of NAN, if the function is NAN somewhere on the way, or after a signal.
 */
struct bracket bisect(function *f, void *context, double low, double high, double tolerance, bool whole);

#endif
