/* Synthetic series of samples for tests of statistics. */
#ifndef GTMARK_TESTS_SYNTHETIC_H
#define GTMARK_TESTS_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

/*
 * x[i] = 1 + noise e[i], where e is a stationary Gaussian process of variance 1 with correlation r between
 * neighbours. Its median is 1.
 */
void make_series(double *x, size_t n, double noise, double r, uint64_t seed);

#endif
