/*
 * Degree statistics in integers, which do not depend on the order of summation.
 *
 * The variance is (n S2 - S1^2) / n^2 with S1 and S2 the sums of the degrees and of their squares: S2 is at
 * most edges * max < 2^62, and the difference, exact in 128 bits, does not cancel. Quantiles come from a
 * radix selection: a histogram of the highest digit gives the bucket of the rank, then one of the next digit
 * within that bucket, so that no array of the size of the graph is needed. Degrees below 2048 need one
 * histogram.
 */
#include "graphs/degrees.h"

#include <math.h>

#include "kernels/arithmetic.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PARALLEL_FROM = 1 << 14 };

static int64_t degree_of(const struct csr *g, int64_t node)
{
    return g->row_ptr[node + 1] - g->row_ptr[node];
}

/* The degree at `rank`, counted from 0, of all degrees in ascending order; none is above max. */
static int64_t degree_at(const struct csr *g, int64_t rank, int64_t max)
{
    int shift = 0;
    while (max >> shift >= DIGITS)
        shift += DIGIT_BITS;
    int64_t prefix = 0;
    for (; shift >= 0; shift -= DIGIT_BITS) {
        int64_t count[DIGITS] = {0}, digit = 0;
        for (int64_t i = 0; i < g->nodes; i++) {
            int64_t high = degree_of(g, i) >> shift;
            if (high >> DIGIT_BITS == prefix)
                count[high & (DIGITS - 1)]++;
        }
        for (; rank >= count[digit]; digit++)
            rank -= count[digit];
        prefix = prefix << DIGIT_BITS | digit;
    }
    return prefix;
}

static void find_moments(struct degrees *d, const struct csr *g)
{
    int64_t min = g->edges, max = 0, isolated = 0, squares = 0;
#pragma omp parallel for reduction(min : min) reduction(max : max) reduction(+ : isolated, squares)         \
    if (g->nodes >= PARALLEL_FROM)
    for (int64_t i = 0; i < g->nodes; i++) {
        int64_t degree = degree_of(g, i);
        min = min_of(min, degree);
        max = max_of(max, degree);
        isolated += degree == 0;
        squares += degree * degree;
    }
    double n = (double)g->nodes;
    d->min = min;
    d->max = max;
    d->isolated = isolated;
    d->mean = (double)g->edges / n;
    d->std = sqrt((double)((__int128)g->nodes * squares - (__int128)g->edges * g->edges)) / n;
}

/* Rows are sorted, so duplicates are neighbours. */
static void find_repetitions(struct degrees *d, const struct csr *g)
{
    int64_t loops = 0, duplicates = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : loops, duplicates)                           \
    if (g->edges >= PARALLEL_FROM)
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++) {
            loops += g->col[e] == i;
            duplicates += e > g->row_ptr[i] && g->col[e] == g->col[e - 1];
        }
    d->self_loops = loops;
    d->duplicates = duplicates;
}

struct degrees csr_degrees(const struct csr *g)
{
    struct degrees d = {0};
    find_moments(&d, g);
    find_repetitions(&d, g);
    int64_t n = g->nodes;
    d.median = degree_at(g, (n - 1) / 2, d.max);
    d.p99 = degree_at(g, (99 * n + 99) / 100 - 1, d.max);
    return d;
}
