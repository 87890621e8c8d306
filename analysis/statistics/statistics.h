/*
 * Statistics of one array of samples, designed for run times: few, skewed, positive, in any unit. What cannot
 * be computed from too few samples is NAN.
 */
#ifndef GTMARK_ANALYSIS_STATISTICS_H
#define GTMARK_ANALYSIS_STATISTICS_H

#include <stddef.h>

enum {
    SUMMARY_STD_MIN = 2,   /* fewest samples for a standard deviation */
    SUMMARY_P95_MIN = 20,  /* fewest samples for a 95th percentile */
    SUMMARY_P99_MIN = 100, /* fewest samples for a 99th percentile */
};

struct summary {
    size_t n;
    double mean, std; /* std divides by n - 1; NAN below SUMMARY_STD_MIN samples */
    double min, max, median;
    double p95, p99; /* NAN below SUMMARY_P95_MIN and SUMMARY_P99_MIN samples */
    double cv;       /* std / |mean|; NAN where either is missing or the mean is 0 */
    size_t outliers; /* samples far from the median; included in every figure above */
};

/* The summary of samples[n], in any order. Without samples everything except n and outliers is NAN. */
struct summary summarize(const double *samples, size_t n);

/* The p-quantile, 0 <= p <= 1, of ascending sorted[n], n >= 1, interpolated linearly. */
double quantile(const double *sorted, size_t n, double p);
double quantile_of(const double *values, size_t n, double p); /* in any order */

/* The median of values[n], n >= 1, in any order, which it changes: in a time proportional to n, mostly. */
double median_of_some(double *values, size_t n);

/*
 * The rank l, counted from 1, of the lower end of the median's 95 % interval of n samples: the interval is
 * sorted[l - 1] .. sorted[n - l]. 0 if n is too small for such an interval (n < 6).
 */
size_t median_interval_rank(size_t n);

/* The same for this confidence, between 0 and 1. */
size_t median_interval_rank_at(size_t n, double confidence);

/* Of two doubles, for qsort. */
int compare_doubles(const void *a, const void *b);

/* Sorts in ascending order; a sorted copy, to be freed. */
void sort_doubles(double *x, size_t n);
double *sorted_copy(const double *x, size_t n);

#endif
