/*
 * Rows of normalisations, and merging of moments.
 *
 *   y = (x - mean) rstd gain + bias
 *   n = (x - mean) rstd, g = dy gain     dx (+)= (g - mean(g) - n mean(g n)) rstd
 *
 * All rows have d floats; mean and rstd are those of the row or of its graph.
 */
#ifndef GTMARK_KERNELS_CPU_NORM_H
#define GTMARK_KERNELS_CPU_NORM_H

#include "kernels/cpu/blocks.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vectors.h"

enum { NORM_STRIP = 64 };      /* columns that a task sums over chunks of rows */
enum { NORM_GRAIN = 1 << 13 }; /* of batch norm and graph norm */

/* Of a chunk of rows that fits the first two levels of cache. */
static inline int64_t norm_block_rows(int64_t d)
{
    enum { ELEMENTS = 8192, LEAST_ROWS = 16 };
    return max_of(LEAST_ROWS, ELEMENTS / d);
}

static inline int64_t norm_blocks(struct offsets graphs, struct mat x)
{
    return block_count(graphs, x.rows, norm_block_rows(x.cols));
}

static inline bool norm_one_block(struct offsets graphs, struct mat x, int64_t g)
{
    return graph_size(graphs, g) <= norm_block_rows(x.cols);
}

/* All rows as one graph; its bounds are written to `at`. */
static inline struct offsets norm_one_graph(int64_t at[2], int64_t rows)
{
    at[0] = 0;
    at[1] = rows;
    return (struct offsets){.at = {.data = at, .rows = 2, .cols = 1, .ld = 1, .dtype = I64}};
}

/* Of group i that shares a mean and rstd: `each` column of one graph, in a row, or each graph, in a column.
 */
static inline float *norm_entry(struct mat m, bool each, int64_t i)
{
    return each ? row_of(m, 0) + i : row_of(m, i);
}

/* Vectors that sums over a row are kept in, so that additions need not wait for one another. */
enum { NORM_WAYS = 4 };

INLINE float norm_total(const vec sum[NORM_WAYS])
{
    return vm_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static inline float norm_sum(int64_t d, const float *x)
{
    vec sum[NORM_WAYS] = {{0}};
    float rest = 0;
    int64_t k = 0;
    for (; k + NORM_WAYS * LANES <= d; k += NORM_WAYS * LANES)
        UNROLL
    for (int j = 0; j < NORM_WAYS; j++)
        sum[j] += load(x + k + j * LANES);
    UNROLL
    for (int j = 0; j < NORM_WAYS - 1; j++)
        if (k + LANES <= d) {
            sum[j] += load(x + k);
            k += LANES;
        }
    for (; k < d; k++)
        rest += x[k];
    return norm_total(sum) + rest;
}

/* sum += the squares of the entries of x less the mean. */
INLINE void norm_add_squares(vec *sum, const float *x, float mean)
{
    vec centred = load(x) - mean;
    *sum += centred * centred;
}

/* The sum of (x - mean)^2. */
static inline float norm_squares(int64_t d, const float *x, float mean)
{
    vec sum[NORM_WAYS] = {{0}};
    float rest = 0;
    int64_t k = 0;
    for (; k + NORM_WAYS * LANES <= d; k += NORM_WAYS * LANES)
        UNROLL
    for (int j = 0; j < NORM_WAYS; j++)
        norm_add_squares(&sum[j], x + k + j * LANES, mean);
    UNROLL
    for (int j = 0; j < NORM_WAYS - 1; j++)
        if (k + LANES <= d) {
            norm_add_squares(&sum[j], x + k, mean);
            k += LANES;
        }
    for (; k < d; k++)
        rest += (x[k] - mean) * (x[k] - mean);
    return norm_total(sum) + rest;
}

/* y may be the same as x. */
static inline void norm_row(int64_t d, float *y, const float *x, float mean, float rstd, const float *gain,
                            const float *bias)
{
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        y[k] = (x[k] - mean) * rstd * gain[k] + bias[k];
}

/*
 * A row of dx from the means of g and g n over the entries that share mean and rstd. For a single entry dx is
 * 0, which rounding of the means and the multiply-add would otherwise prevent.
 */
static inline void norm_row_backward(int64_t d, float *restrict dx, bool acc, const float *restrict dy,
                                     const float *restrict x, float mean, float rstd,
                                     const float *restrict gain, float g_mean, float gn_mean, bool single)
{
    float slope = single ? 0 : rstd;
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        dx[k] = (acc ? dx[k] : 0) + (dy[k] * gain[k] - g_mean - (x[k] - mean) * rstd * gn_mean) * slope;
}

/* Columns k .. k + NORM_STRIP - 1 of dgain and dbias, from each chunk's dgain followed by its dbias. */
static inline void norm_add_chunks(struct mat dgain, struct mat dbias, int64_t d, int64_t k,
                                   const float *chunks, int64_t count)
{
    int64_t n = min_of(NORM_STRIP, d - k);
    if (mat_present(dgain))
        add_accumulators(n, row_of(dgain, 0) + k, dgain.acc, chunks + k, count, 2 * d);
    if (mat_present(dbias))
        add_accumulators(n, row_of(dbias, 0) + k, dbias.acc, chunks + d + k, count, 2 * d);
}

/*
 * Merges the moments of `count` values into those of `before` others: squares are sums of squared deviations
 * (Chan, Golub and LeVeque, "Algorithms for computing the sample variance", The American Statistician 37(3),
 * 1983).
 */
static inline void merge_moments(double *mean, double *squares, double before, double count, double its_mean,
                                 double its_squares)
{
    double share = count / (before + count), distance = its_mean - *mean;
    *mean += distance * share;
    *squares += its_squares + distance * distance * (before * share);
}

#endif
