/* Series of samples made up for tests of statistics. */
#ifndef GTMARK_TESTS_SYNTHETIC_H
#define GTMARK_TESTS_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

/* x[i] = 1 + noise e[i] with e a stationary Gaussian process of variance 1 whose neighbours correlate with r.
 * Its median is 1. */
void make_series(double *x, size_t n, double noise, double r, uint64_t seed);

#endif
