/*
 * Drift is tested with the Mann-Kendall statistic S, the number of pairs of samples that increase minus the
 * number that decrease (Mann, "Nonparametric tests against trend", Econometrica 13, 1945; Kendall, "Rank
 * Correlation Methods", 1975); its size is the median of the slopes of all pairs (Theil 1950; Sen, JASA 63,
 * 1968). Both are robust against outliers. Autocorrelation increases the variance of S and would cause false
 * alarms, so the variance is multiplied by the correction factor of Hamed and Rao ("A modified Mann-Kendall
 * trend test for autocorrelated data", Journal of Hydrology 204, 1998), with the autocorrelations r^k of a
 * first-order process, r estimated after the drift was removed.
 *
 * The autocorrelation is that of ranks, which is robust against outliers. Its estimate from n samples is
 * biased low by about (1 + 3 r) / n (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika
 * 41, 1954), by (2 + 4 r) / n after a line was fitted.
 *
 * The interval of the median is that of statistics.c with an effective sample size below n. Whether a sample
 * is below the median is a series of signs, whose mean has 1 + 2 sum (1 - k/n) s_k times the variance of
 * independent ones; for a first-order Gaussian process s_k = (2 / pi) asin(r^k) (the arcsine law; for the
 * median of such series: Gastwirth and Rubin, "The behavior of robust estimators on dependent data", Annals
 * of Statistics 3, 1975).
 */
#include "analysis/statistics/robust.h"

#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"

#include <math.h>

#define AUTOCORRELATION_MAX 0.95
enum { DRIFT_POINTS = 200 };

/* The number of sorted[n] less than x. */
static size_t count_below(const double *sorted, size_t n, double x)
{
    return first_not_less(sorted, n, sizeof *sorted, &x, compare_doubles);
}

/* The number of sorted[n] at most x. */
static size_t count_up_to(const double *sorted, size_t n, double x)
{
    return count_below(sorted, n, nextafter(x, INFINITY));
}

/*
 * Lag-1 rank correlation, corrected for bias; `fitted` parameters (mean, slope) were estimated from the
 * samples.
 */
static double lag1_autocorrelation(const double *x, size_t n, int fitted)
{
    if (n < AUTOCORRELATION_MIN)
        return 0;
    double *sorted = sorted_copy(x, n), before = 0, products = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        /* Ties get the mean of their ranks; the mean of all ranks is 0. */
        size_t ranks = count_below(sorted, n, x[i]) + count_up_to(sorted, n, x[i]);
        double rank = 0.5 * ((double)ranks - (double)n);
        products += before * rank;
        squares += rank * rank;
        before = rank;
    }
    free(sorted);
    if (squares == 0)
        return 0;
    double r = ((double)n * products / squares + fitted) / ((double)n - 2 - fitted);
    return fmax(-AUTOCORRELATION_MAX, fmin(AUTOCORRELATION_MAX, r));
}

double autocorrelation(const double *samples, size_t n)
{
    return lag1_autocorrelation(samples, n, 1);
}

/* The variance of S relative to that of independent samples, for lag-1 autocorrelation r >= 0. */
static double variance_factor(size_t n, double r)
{
    double m = (double)n, sum = 0, power = 1;
    for (size_t k = 1; k < n; k++) {
        power *= r;
        sum += (m - (double)k) * (m - (double)k - 1) * (m - (double)k - 2) * power;
    }
    return 1 + 2 * sum / (m * (m - 1) * (m - 2));
}

/* The variance of S for independent samples, with ties. */
static double variance(const double *x, size_t n)
{
    double *sorted = sorted_copy(x, n), m = (double)n, sum = m * (m - 1) * (2 * m + 5);
    for (size_t i = 0, end; i < n; i = end) {
        end = count_up_to(sorted, n, sorted[i]);
        double t = (double)(end - i);
        sum -= t * (t - 1) * (2 * t + 5);
    }
    free(sorted);
    return sum / 18;
}

/* The median of the slopes of all pairs, per sample; and S. */
static double slope_of(const double *x, size_t n, double *s)
{
    double *slopes = allocate(n * (n - 1) / 2, sizeof *slopes);
    size_t pairs = 0;
    *s = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            slopes[pairs++] = (x[k] - x[i]) / (double)(k - i);
            *s += (x[k] > x[i]) - (x[k] < x[i]);
        }
    double slope = median_of_some(slopes, pairs);
    free(slopes);
    return slope;
}

static struct drift drift_of(const double *x, size_t n)
{
    double s, slope = slope_of(x, n, &s), *flat = allocate(n, sizeof *flat);
    for (size_t i = 0; i < n; i++)
        flat[i] = x[i] - slope * (double)i;
    double r = fmax(0, lag1_autocorrelation(flat, n, 2)), median = quantile_of(x, n, 0.5);
    free(flat);
    double deviation = sqrt(variance(x, n) * variance_factor(n, r));
    struct drift d = {.change = slope * (double)(n - 1) / fabs(median), .p = 1};
    if (fabs(s) > 1 && deviation > 0)
        d.p = erfc((fabs(s) - 1) / deviation / sqrt(2));
    d.found = d.p < DRIFT_LEVEL && fabs(d.change) >= DRIFT_LEAST;
    return d;
}

struct drift drift_find(const double *samples, size_t n)
{
    if (n < DRIFT_SAMPLES_MIN)
        return (struct drift){NAN, NAN, false};
    if (n <= DRIFT_POINTS)
        return drift_of(samples, n);
    double points[DRIFT_POINTS];
    for (size_t i = 0; i < DRIFT_POINTS; i++) {
        size_t first = i * n / DRIFT_POINTS, end = (i + 1) * n / DRIFT_POINTS;
        points[i] = quantile_of(samples + first, end - first, 0.5);
    }
    return drift_of(points, DRIFT_POINTS);
}

/*
 * Slow: above the median by 5 % of it and by 3.5 standard deviations, estimated from the upper quartile
 * (1.4826 times its distance from the median). If more than one in twenty of the later samples is slow as
 * well, the start is not special.
 */
struct slow_start slow_start_find(const double *samples, size_t n)
{
    struct slow_start none = {0, NAN};
    if (n < SLOW_START_MIN)
        return none;
    double *sorted = sorted_copy(samples, n), median = quantile(sorted, n, 0.5);
    double limit = fmax(1.05 * median, median + 3.5 * 1.4826 * (quantile(sorted, n, 0.75) - median));
    free(sorted);
    size_t runs = 0, later = 0;
    while (runs < n && samples[runs] > limit)
        runs++;
    for (size_t i = runs; i < n; i++)
        later += samples[i] > limit;
    if (runs == 0 || 20 * later > n - runs)
        return none;
    return (struct slow_start){runs, samples[0] / quantile_of(samples + runs, n - runs, 0.5)};
}

/* The variance of the mean of the signs relative to that of independent signs. */
static double sign_variance(size_t n, double r)
{
    double sum = 0, power = r;
    for (size_t k = 1; k < n && power > 1e-9; k++, power *= r)
        sum += (1 - (double)k / (double)n) * 2 / M_PI * asin(power);
    return 1 + 2 * sum;
}

/* The z with P(|Z| <= z) = confidence for a standard normal Z. */
static double normal_width(double confidence)
{
    double low = 0, high = 10;
    while (high - low > 1e-9) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct interval median_interval_ranks(const double *samples, size_t n)
{
    if (n < AUTOCORRELATION_MIN)
        return (struct interval){NAN, NAN, NAN};
    double factor = sign_variance(n, autocorrelation(samples, n));
    double half = normal_width(0.95) / 2 * sqrt((double)n * factor); /* normal approximation */
    double below = floor((double)n / 2 - half);
    double most = (double)median_interval_rank_at(n, 0.95);
    size_t rank = (size_t)fmax(1, fmin(below + 1, most));
    double *sorted = sorted_copy(samples, n);
    struct interval interval = {sorted[rank - 1], sorted[n - rank], (double)n / factor};
    free(sorted);
    return interval;
}
