/*
 * Synthetic drifts, slow starts and autocorrelation are detected, noise alone is not; and the coverage of the
 * intervals of the median, over seeded first-order autoregressive noise.
 */
#include "analysis/statistics/robust.h"

#include "analysis/statistics/statistics.h"
#include "tests/synthetic.h"
#include "tests/test.h"

#include <math.h>

enum { MOST = 2000, SERIES = 400 };

static void add_drift(double *x, size_t n, double change)
{
    for (size_t i = 0; i < n; i++)
        x[i] += change * (double)i / (double)(n - 1);
}

/* The share of SERIES series in which a drift is found. */
static double drifts_found(size_t n, double noise, double r, double change)
{
    double x[MOST], found = 0;
    for (uint64_t seed = 1; seed <= SERIES; seed++) {
        make_series(x, n, noise, r, seed);
        add_drift(x, n, change);
        found += drift_find(x, n).found;
    }
    return found / SERIES;
}

TEST(test_a_line_is_a_drift)
{
    double x[30];
    for (int i = 0; i < 30; i++)
        x[i] = 10 - 0.1 * i; /* from 10 to 7.1, median 8.55 */
    struct drift d = drift_find(x, 30);
    assert_true(d.found);
    assert_true(fabs(d.change + 2.9 / 8.55) < 1e-12);
    assert_true(d.p < 1e-6);
}

/* Without ties the variance of S for n = 10 is 10 x 9 x 25 / 18 = 125; S = 29 gives Z = 28 / sqrt(125). */
TEST(test_known_p)
{
    const double x[] = {2, 1, 4, 3, 5, 10, 6, 8, 9, 7};
    double s = 0;
    for (int i = 0; i < 10; i++)
        for (int k = i + 1; k < 10; k++)
            s += (x[k] > x[i]) - (x[k] < x[i]);
    assert_true(s == 29);
    /* Neighbours in the detrended series alternate: no correction. */
    assert_true(fabs(drift_find(x, 10).p - erfc(28 / sqrt(125) / sqrt(2))) < 1e-12);
}

TEST(test_drift_with_noise)
{
    assert_true(drifts_found(30, 0.02, 0, 0.1) > 0.97);
    assert_true(drifts_found(30, 0.02, 0, -0.1) > 0.97);
    assert_true(drifts_found(1000, 0.05, 0.5, 0.1) > 0.97);
}

TEST(test_noise_is_no_drift)
{
    assert_true(drifts_found(10, 0.05, 0, 0) <= 0.02);
    assert_true(drifts_found(30, 0.05, 0, 0) <= 0.02);
    assert_true(drifts_found(30, 0.05, 0.6, 0) <= 0.07); /* without the correction of the variance: 0.15 */
    assert_true(drifts_found(100, 0.05, 0.6, 0) <= 0.05);
    assert_true(drifts_found(1000, 0.05, 0.6, 0) <= 0.05);
}

TEST(test_tiny_drifts_are_none)
{
    double x[100];
    make_series(x, 100, 1e-4, 0, 1);
    add_drift(x, 100, 0.015);
    struct drift d = drift_find(x, 100);
    assert_true(d.p < 1e-6 && d.change > 0.014 && !d.found);
}

TEST(test_outliers_are_no_drift)
{
    double x[40];
    make_series(x, 40, 0.01, 0, 2);
    x[37] = x[38] = x[39] = 9;
    assert_false(drift_find(x, 40).found);
}

TEST(test_degenerate_series)
{
    double x[300];
    for (int i = 0; i < 300; i++)
        x[i] = 5;
    assert_true(isnan(drift_find(x, 9).change) && isnan(drift_find(x, 9).p) && !drift_find(x, 9).found);
    assert_true(!drift_find(x, 10).found && drift_find(x, 10).p == 1 && drift_find(x, 10).change == 0);
    assert_false(drift_find(x, 300).found);
    assert_int_equal(slow_start_find(x, 300).runs, 0);
    assert_true(autocorrelation(x, 300) == 0 && autocorrelation(x, 5) == 0);
    assert_true(isnan(median_interval_ranks(x, 5).low) && isnan(median_interval_ranks(x, 5).high));
    struct interval ranks = median_interval_ranks(x, 300);
    assert_true(ranks.low == 5 && ranks.high == 5);
    assert_true(ranks.independent == 300);
}

TEST(test_slow_start)
{
    double x[30];
    make_series(x, 30, 0.01, 0, 3);
    assert_int_equal(slow_start_find(x, 30).runs, 0);
    x[0] = 2, x[1] = 1.5;
    struct slow_start s = slow_start_find(x, 30);
    assert_int_equal(s.runs, 2);
    assert_true(fabs(s.ratio - 2) < 0.02);
    x[10] = x[20] = 2; /* slow samples occur at any time */
    assert_int_equal(slow_start_find(x, 30).runs, 0);
    const double few[] = {3, 1, 1, 1}, five[] = {3, 1, 1.01, 1, 1.01}, fast[] = {0.2, 1, 1.01, 1, 1.01};
    assert_int_equal(slow_start_find(few, 4).runs, 0);
    assert_int_equal(slow_start_find(five, 5).runs, 1);
    assert_int_equal(slow_start_find(fast, 5).runs, 0);
    const double slight[] = {1.04, 1, 1, 1, 1, 1};
    assert_int_equal(slow_start_find(slight, 6).runs, 0);
}

TEST(test_autocorrelation)
{
    double x[MOST];
    make_series(x, MOST, 1, 0, 4);
    assert_true(fabs(autocorrelation(x, MOST)) < 0.07);
    make_series(x, MOST, 1, 0.7, 4);
    assert_true(fabs(autocorrelation(x, MOST) - 0.7) < 0.07); /* of ranks: 0.68 */
    x[5] = 1e9;                                               /* an outlier masks nothing */
    assert_true(fabs(autocorrelation(x, MOST) - 0.7) < 0.07);
    for (int i = 0; i < 50; i++)
        x[i] = i % 2;
    assert_true(autocorrelation(x, 50) < -0.9);
    /* In short series the estimate is right on average. */
    double sum = 0;
    for (uint64_t seed = 1; seed <= SERIES; seed++) {
        make_series(x, 20, 1, 0.5, seed);
        sum += autocorrelation(x, 20);
    }
    assert_true(fabs(sum / SERIES - 0.46) < 0.06);
}

/* For independent samples the effective number is n and the interval that of statistics.c. */
/* The interval of independent samples. */
static struct interval ranks_of(const double *x, size_t n)
{
    double sorted[MOST];
    size_t rank = median_interval_rank(n);
    memcpy(sorted, x, n * sizeof *x);
    sort_doubles(sorted, n);
    return (struct interval){.low = sorted[rank - 1], .high = sorted[n - rank]};
}

TEST(test_ranks_of_independent_samples)
{
    for (size_t n = 6; n <= 200; n += 7) {
        double x[200];
        for (size_t i = 0; i < n; i++)
            x[i] = (double)((i * 2 + i % 2 * n) % (2 * n)); /* alternately low and high: neighbours differ */
        struct interval ranks = median_interval_ranks(x, n), independent = ranks_of(x, n);
        assert_true(ranks.low == independent.low && ranks.high == independent.high);
        assert_true(ranks.independent == (double)n);
    }
}

/* A rising series is taken for one with r = 0.95: 100 of its samples are worth 4.5 independent ones, 400 are
 * worth 15. */
TEST(test_ranks_of_correlated_samples)
{
    double x[400];
    for (int i = 0; i < 400; i++)
        x[i] = i + 1;
    struct interval some = median_interval_ranks(x, 100), many = median_interval_ranks(x, 400);
    assert_true(fabs(some.independent - 4.507) < 1e-3 && some.low == 4 && some.high == 97);
    assert_true(fabs(many.independent - 15.460) < 1e-3 && many.low == 101 && many.high == 300);
}

struct coverage {
    double binomial, ranks;
};

/* The shares of series whose intervals contain the true median, 1. */
static struct coverage cover(size_t n, double r)
{
    double x[MOST];
    struct coverage c = {0};
    for (uint64_t seed = 1; seed <= SERIES; seed++) {
        make_series(x, n, 0.1, r, seed);
        struct interval ranks = median_interval_ranks(x, n), independent = ranks_of(x, n);
        c.binomial += (independent.low <= 1 && 1 <= independent.high) / (double)SERIES;
        c.ranks += (ranks.low <= 1 && 1 <= ranks.high) / (double)SERIES;
    }
    return c;
}

/*
 * With 2000 series (n, r: by independent ranks, by ranks of fewer samples):
 *   30, 0.0: .963 .969    30, 0.3: .900 .942    30, 0.6: .757 .927    30, 0.8: .565 .880
 *  100, 0.0: .968 .968   100, 0.3: .913 .944   100, 0.6: .769 .931   100, 0.8: .609 .918
 * With 400 series the standard deviation is .01 to .02.
 */
TEST(test_coverage)
{
    struct coverage independent = cover(30, 0), some = cover(30, 0.6), many = cover(100, 0.6);
    print_message("# coverage n=30 r=0: %.3f %.3f; n=30 r=.6: %.3f %.3f; n=100 r=.6: %.3f %.3f\n",
                  independent.binomial, independent.ranks, some.binomial, some.ranks, many.binomial,
                  many.ranks);
    assert_true(independent.binomial > 0.92 && independent.ranks > 0.92);
    assert_true(some.binomial < 0.87); /* the defect to be corrected */
    assert_true(some.ranks > 0.88);
    assert_true(many.binomial < 0.85);
    assert_true(many.ranks > 0.88);
}
