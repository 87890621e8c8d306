/*
 * What the order of samples tells: whether they drift, whether the first ones are slow, how strongly
 * neighbours resemble each other, and an interval of the median that allows for it.
 */
#ifndef GTMARK_ANALYSIS_ROBUST_H
#define GTMARK_ANALYSIS_ROBUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DRIFT_SAMPLES_MIN = 10,  /* fewest samples for a test of drift */
    SLOW_START_MIN = 5,      /* fewest samples for a slow start */
    AUTOCORRELATION_MIN = 6, /* fewest samples for an autocorrelation, and for intervals that allow for it */
};

/* A drift smaller than this share of the median is none, however significant. */
#define DRIFT_LEAST 0.02

/* Significance that a drift must have. */
#define DRIFT_LEVEL 0.01

struct drift {
    double
        change; /* from the first sample to the last, over the median; NAN below DRIFT_SAMPLES_MIN samples */
    double p;   /* how likely so strong a trend is without any drift; NAN likewise */
    bool found; /* significant, and large enough to matter */
};

/* samples[n] are in the order taken. Above 200 samples, medians of 200 runs of samples are tested instead. */
struct drift drift_find(const double *samples, size_t n);

/* How far the medians of SPREAD_BLOCKS consecutive blocks of samples[n] lie apart, over the median of all; 0
 * below SPREAD_BLOCKS samples. */
enum { SPREAD_BLOCKS = 5 };
double block_spread(const double *samples, size_t n);

struct slow_start {
    size_t runs;  /* samples at the beginning that are slow and followed by ones that are not; 0: none */
    double ratio; /* the first sample over the median of those that follow; NAN if runs is 0 */
};
struct slow_start slow_start_find(const double *samples, size_t n);

/* Rank correlation of neighbouring samples, corrected for its bias; 0 below AUTOCORRELATION_MIN samples. */
double autocorrelation(const double *samples, size_t n);

/*
 * The median's 95 % interval for samples that may resemble their neighbours, in two ways. NAN below
 * AUTOCORRELATION_MIN samples. How often they hold the true median is in tests/test_analysis_robust.c: the
 * bootstrap is the method that assumes least, but it is too narrow for fewer than some hundred samples that
 * correlate; the one by ranks is wider, and near 95 % from 20 samples and correlations up to 0.6 on.
 */
struct interval {
    double low, high;
    double
        independent; /* how many independent samples these are worth; by blocks, how many blocks there are */
};

/* Moving block bootstrap; the same for the same samples and seed. Costs about 1000 n steps. */
struct interval median_interval_blocks(const double *samples, size_t n, uint64_t seed);

/* Order statistics as in statistics.h, further out: as few independent samples would need it. */
struct interval median_interval_ranks(const double *samples, size_t n);

/* The same with this confidence, between 0 and 1, as far as n samples can give it: 6 give 96.9 %. */
struct interval median_interval_ranks_at(const double *samples, size_t n, double confidence);

#endif
