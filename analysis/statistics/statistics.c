/*
 * Statistics of samples.
 *
 * Quantiles are definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (The American
 * Statistician 50, 1996), the default of R and NumPy: linear between order statistics, at position (n - 1) p
 * counted from 0.
 *
 * The interval of the median assumes independent samples but no distribution: the number of samples below the
 * median is binomial(n, 1/2), so the order statistics x_(l) and x_(n+1-l) enclose it with probability 1 - 2
 * P(B < l), and l is the largest rank that leaves at least the requested confidence (David and Nagaraja,
 * "Order Statistics", 3rd edition, 2003, section 7.1; recommended for run times by Hoefler and Belli,
 * "Scientific Benchmarking of Parallel Computing Systems", SC 2015).
 *
 * An outlier is more than 3.5 robust standard deviations from the median, each 1.4826 times the median
 * absolute deviation (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993).
 */
#include "analysis/statistics/statistics.h"

#include "analysis/statistics/allocate.h"

#include <math.h>
#include <stdint.h>

/* Swaps values of x[*first .. *last] until x[.. *last] <= pivot <= x[*first ..], where *last < *first. The
 * pivot is one of them, where no pattern of times puts a small or a large one again and again. */
static void part_at_pivot(double *x, ptrdiff_t *first, ptrdiff_t *last)
{
    ptrdiff_t i = *first, j = *last;
    uint64_t n = (uint64_t)(j - i) + 1;
    double pivot = x[i + (ptrdiff_t)((n * 0x9e3779b97f4a7c15 >> 32) % n)];
    while (i <= j) {
        while (x[i] < pivot)
            i++;
        while (pivot < x[j])
            j--;
        if (i > j)
            break;
        double swapped = x[i];
        x[i++] = x[j];
        x[j--] = swapped;
    }
    *first = i;
    *last = j;
}

int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_doubles(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare_doubles);
}

double *sorted_copy(const double *x, size_t n)
{
    double *sorted = allocate(n, sizeof *sorted);
    memcpy(sorted, x, n * sizeof *sorted);
    sort_doubles(sorted, n);
    return sorted;
}

double quantile(const double *sorted, size_t n, double p)
{
    double position = p * (double)(n - 1);
    size_t below = (size_t)position;
    if (below + 1 >= n)
        return sorted[n - 1];
    double share = position - (double)below;
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double quantile_of(const double *values, size_t n, double p)
{
    double *sorted = sorted_copy(values, n), value = quantile(sorted, n, p);
    free(sorted);
    return value;
}

/* Moves the value of this rank, counted from 0, to its place, smaller ones before it and larger ones behind
 * it (FIND: Hoare, Communications of the ACM 4, 1961). */
static void select_rank(double *x, size_t n, size_t rank)
{
    for (ptrdiff_t first = 0, last = (ptrdiff_t)n - 1, k = (ptrdiff_t)rank; first < last;) {
        ptrdiff_t i = first, j = last;
        part_at_pivot(x, &i, &j);
        first = j < k ? i : first;
        last = k < i ? j : last;
    }
}

double median_of_some(double *values, size_t n)
{
    size_t below = (n - 1) / 2;
    select_rank(values, n, below);
    if (n % 2 == 0)
        select_rank(values + below + 1, n - below - 1, 0);
    return quantile(values, n, 0.5);
}

size_t median_interval_rank(size_t n)
{
    return median_interval_rank_at(n, 0.95);
}

size_t median_interval_rank_at(size_t n, double confidence)
{
    /* Logarithms, because 2^-n underflows a double at about a thousand samples. */
    double log_term = -(double)n * log(2), below = 0;
    size_t rank = 0;
    while (2 * rank < n) {
        below += exp(log_term); /* P(B <= rank) */
        if (below > (1 - confidence) / 2)
            break;
        rank++;
        log_term += log((double)(n - rank + 1) / (double)rank);
    }
    return rank;
}

/* Sum of squared deviations from the mean over n - 1, in two passes to avoid cancellation. */
static double sample_std(const double *x, size_t n, double mean)
{
    if (n < SUMMARY_STD_MIN)
        return NAN;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

/* Uses deviation[n] as scratch. */
static size_t count_outliers(const double *x, size_t n, double median, double *deviation)
{
    for (size_t i = 0; i < n; i++)
        deviation[i] = fabs(x[i] - median);
    sort_doubles(deviation, n);
    /* Lower bound on sigma: run times that agree within a percent have no outliers worth a warning. */
    double sigma = fmax(1.4826 * quantile(deviation, n, 0.5), 0.01 * fabs(median));
    size_t outliers = 0;
    while (outliers < n && deviation[n - 1 - outliers] > 3.5 * sigma)
        outliers++;
    return outliers;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

struct summary summarize(const double *samples, size_t n)
{
    if (n == 0)
        return (struct summary){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0};
    double *sorted = allocate(2 * n, sizeof *sorted);
    memcpy(sorted, samples, n * sizeof *sorted);
    sort_doubles(sorted, n);

    struct summary s = {
        .n = n,
        .mean = mean_of(sorted, n),
        .min = sorted[0],
        .max = sorted[n - 1],
        .median = quantile(sorted, n, 0.5),
        .p95 = n >= SUMMARY_P95_MIN ? quantile(sorted, n, 0.95) : NAN,
        .p99 = n >= SUMMARY_P99_MIN ? quantile(sorted, n, 0.99) : NAN,
    };
    s.std = sample_std(sorted, n, s.mean);
    s.cv = s.mean != 0 ? s.std / fabs(s.mean) : NAN;
    s.outliers = count_outliers(sorted, n, s.median, sorted + n);
    free(sorted);
    return s;
}
