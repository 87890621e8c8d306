/* Statistics, compared with values computed by hand or from published tables. */
#include "analysis/statistics/statistics.h"
#include "tests/test.h"

#include <math.h>

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

TEST(test_known_samples)
{
    const double x[] = {9, 2, 4, 4, 5, 7, 5, 4}; /* mean 5, squared deviations sum to 32 */
    struct summary s = summarize(x, 8);
    assert_int_equal(s.n, 8);
    assert_close(s.mean, 5);
    assert_close(s.std, sqrt(32. / 7));
    assert_close(s.cv, sqrt(32. / 7) / 5);
    assert_close(s.min, 2);
    assert_close(s.max, 9);
    assert_close(s.median, 4.5);
    assert_true(isnan(s.p95) && isnan(s.p99));
}

TEST(test_few_samples)
{
    const double x[] = {3, 1};
    struct summary none = summarize(x, 0), one = summarize(x, 1), two = summarize(x, 2);
    assert_int_equal(none.n, 0);
    assert_true(isnan(none.mean) && isnan(none.median));
    assert_close(one.median, 3);
    assert_true(isnan(one.std) && isnan(one.cv));
    assert_close(two.std, sqrt(2));
}

TEST(test_quantile_interpolates)
{
    const double x[] = {10, 20, 30, 40, 50};
    assert_close(quantile(x, 5, 0), 10);
    assert_close(quantile(x, 5, 1), 50);
    assert_close(quantile(x, 5, 0.25), 20);
    assert_close(quantile(x, 5, 0.95), 48); /* position 3.8 */
    assert_close(quantile(x, 1, 0.95), 10);
}

/* Of values that rise, fall, rise and fall, and of mixed ones, with ties: against insertion. */
TEST(test_sorting_and_medians)
{
    double x[200] = {0}, sorted[200], expected[200];
    for (size_t n = 1; n <= 200; n++)
        for (size_t step = 0; step < 13; step++) {
            for (size_t i = 0; i < n; i++) {
                x[i] = (double)(step < 11 ? i * step % 97 : step == 11 ? n - i : i < n / 2 ? i : n - i) / 7;
                size_t k = i;
                for (; k > 0 && expected[k - 1] > x[i]; k--)
                    expected[k] = expected[k - 1];
                expected[k] = x[i];
            }
            memcpy(sorted, x, sizeof x);
            sort_doubles(sorted, n);
            assert_memory_equal(sorted, expected, n * sizeof *sorted);
            double median = median_of_some(x, n);
            if (median != quantile(sorted, n, 0.5))
                fail_msg("%zu values, step %zu: %.17g is not the median", n, step, median);
        }
}

TEST(test_tail_percentiles_need_samples)
{
    double x[100];
    for (int i = 0; i < 100; i++)
        x[i] = 100 - i;
    assert_true(isnan(summarize(x, 19).p95));
    assert_false(isnan(summarize(x, 20).p95));
    assert_true(isnan(summarize(x, 99).p99));
    struct summary s = summarize(x, 100);
    assert_close(s.p95, 95.05);
    assert_close(s.p99, 99.01);
}

/*
 * Cumulative binomials: for 10 samples P(B < 2) = 11/1024 is below 2.5 %, P(B < 3) = 56/1024 is not: rank 2.
 */
TEST(test_median_interval_ranks)
{
    const size_t known[][2] = {{5, 0},  {6, 1},   {8, 1},   {9, 2},  {10, 2},
                               {20, 6}, {30, 10}, {50, 18}, {70, 27}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(median_interval_rank(known[i][0]), known[i][1]);
}

/*
 * The coverage of every rank is at least 95 %, and that of the next rank inwards is less: P(B < l) summed
 * exactly.
 */
TEST(test_median_interval_is_the_narrowest)
{
    for (size_t n = 6; n <= 60; n++) {
        double choose = 1, below = 0;
        size_t rank = median_interval_rank(n);
        for (size_t k = 0; k < rank; k++) {
            below += choose;
            choose = choose * (double)(n - k) / (double)(k + 1);
        }
        assert_true(2 * below <= 0.05 * pow(2, (double)n));
        assert_true(2 * (below + choose) > 0.05 * pow(2, (double)n));
    }
    /* Beyond the range of 2^-n in double; about half of n minus 0.98 sqrt(n) for large n. */
    assert_between(median_interval_rank(10000), 4899, 4904);
}

TEST(test_outliers)
{
    const double spread[] = {10, 11, 9, 10.5, 9.5, 30};
    const double tight[] = {1, 1.0001, 0.9999, 1,
                            1, 1.01,   0.99}; /* far in standard deviations, but within a percent */
    const double equal[] = {2, 2, 2, 2};
    assert_int_equal(summarize(spread, 6).outliers, 1);
    assert_int_equal(summarize(tight, 7).outliers, 0);
    assert_int_equal(summarize(equal, 4).outliers, 0);
    assert_close(summarize(spread, 6).max, 30); /* counted, not removed */
}
