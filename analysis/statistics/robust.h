/*
 * Statistics that depend on the order of samples: drift, a slow start, autocorrelation, and an interval of
 * the median that allows for autocorrelation.
 */
#ifndef GTMARK_ANALYSIS_ROBUST_H
#define GTMARK_ANALYSIS_ROBUST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    DRIFT_SAMPLES_MIN = 10,  /* fewest samples for a drift test */
    SLOW_START_MIN = 5,      /* fewest samples to detect a slow start */
    AUTOCORRELATION_MIN = 6, /* fewest samples for an autocorrelation, and for intervals that allow for it */
};

/* Smaller changes, relative to the median, are not reported, however significant. */
#define DRIFT_LEAST 0.02

/* Significance level of the drift test. */
#define DRIFT_LEVEL 0.01

struct drift {
    double change; /* of the fitted line, over the median; NAN below DRIFT_SAMPLES_MIN samples */
    double p;      /* p-value: probability of such a trend without drift; NAN likewise */
    bool found;    /* significant, and at least DRIFT_LEAST */
};

/* samples[n] in the order taken; above 200, the medians of 200 groups of consecutive samples. */
struct drift drift_find(const double *samples, size_t n);

struct slow_start {
    size_t runs;  /* slow samples at the start, followed by ones that are not slow; 0: none */
    double ratio; /* the first sample over the median of those after the start; NAN if runs is 0 */
};
struct slow_start slow_start_find(const double *samples, size_t n);

/* Lag-1 rank autocorrelation, corrected for bias; 0 below AUTOCORRELATION_MIN samples. */
double autocorrelation(const double *samples, size_t n);

/*
 * The median's 95 % interval for samples that may be autocorrelated; NAN below AUTOCORRELATION_MIN samples.
 * tests/test_analysis_robust.c measures its coverage: near 95 % from 20 samples and for correlations up to
 * 0.6.
 */
struct interval {
    double low, high;
    double independent; /* effective number of independent samples */
};

/* Order statistics as in statistics.h, for the effective number of independent samples. */
struct interval median_interval_ranks(const double *samples, size_t n);

#endif
