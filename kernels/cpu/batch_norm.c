/*
 * Batch normalisation of each column, in training and in inference, and its backward.
 *
 *   y = (x - mean) rstd gain + bias     stats = [mean; rstd]     x, y: N x D, all others: rows of D
 *   running = (1 - momentum) running + momentum (mean, sum of (x - mean)^2 / (N - 1))
 *   n = (x - mean) rstd, s = sum dy, t = sum dy n     dx (+)= (dy - s / N - n t / N) gain rstd
 *   dgain (+)= t, dbias (+)= s
 *
 * Rows are processed in chunks that fit the first two levels of cache, so that the two passes for a chunk's
 * mean and variance read memory once. Chunks are merged in order, in double. The rounding error of the mean
 * is compensated in the bias, so columns far from zero lose no further accuracy.
 */
#include "kernels/cpu/norm.h"

#include <math.h>
#include <string.h>

enum { STRIP = NORM_STRIP, GRAIN = 1 << 13 };

/* Moments of a chunk: the rounded mean, then the sums of x - mean and of its square. */
enum { MEAN, REST, SQUARES, MOMENTS };

static int64_t chunk_count(struct mat x)
{
    return blocks_of(x.rows, norm_block_rows(x.cols));
}

static void chunk_moments(struct mat x, int64_t first, int64_t end, float *moments)
{
    int64_t d = x.cols;
    float *restrict mean = moments, *restrict rest = mean + d, *restrict squares = rest + d;
    float share = 1 / (float)(end - first);
    memset(moments, 0, (size_t)(MOMENTS * d) * sizeof(float));
    for (int64_t i = first; i < end; i++)
        add_accumulators(d, mean, true, row_of(x, i), 1, 0);
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        mean[k] *= share;
    for (int64_t i = first; i < end; i++) {
        const float *restrict row = row_of(x, i);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float centred = row[k] - mean[k];
            rest[k] += centred;
            squares[k] += centred * centred;
        }
    }
}

/* Moments of columns k .. k + n - 1 over all chunks. */
static void merge_chunks(struct mat x, const float *moments, int64_t k, int64_t n, double *restrict mean,
                         double *restrict squares)
{
    int64_t d = x.cols, rows = norm_block_rows(d);
    memset(mean, 0, (size_t)n * sizeof *mean);
    memset(squares, 0, (size_t)n * sizeof *squares);
    for (int64_t first = 0; first < x.rows; first += rows, moments += MOMENTS * d) {
        double count = (double)min_of(rows, x.rows - first), share = 1 / count;
        const float *m = moments + MEAN * d + k, *rest = moments + REST * d + k;
        const float *q = moments + SQUARES * d + k;
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            double off = rest[j] * share;
            merge_moments(&mean[j], &squares[j], (double)first, count, m[j] + off, q[j] - off * rest[j]);
        }
    }
}

/* y = (x - mean) slope + shift: three rows of D. */
struct coefficients {
    float *mean, *slope, *shift;
};

static struct coefficients coefficients_at(float *at, int64_t d)
{
    return (struct coefficients){at, at + d, at + 2 * d};
}

static void apply(struct mat y, struct mat x, struct coefficients c, int64_t i)
{
    float *restrict to = row_of(y, i);
    const float *restrict from = row_of(x, i);
    const float *restrict mean = c.mean, *restrict slope = c.slope, *restrict shift = c.shift;
#pragma omp simd
    for (int64_t k = 0; k < x.cols; k++)
        to[k] = (from[k] - mean[k]) * slope[k] + shift[k];
}

static void move(float *running, double momentum, double value)
{
    *running = (float)((1 - momentum) * *running + momentum * value);
}

/* Statistics and coefficients of columns first .. first + STRIP - 1. */
static void finish_columns(const struct batch_norm_args *a, const float *moments, struct coefficients c,
                           int64_t first)
{
    double mean[STRIP], squares[STRIP], n = (double)a->x.rows;
    int64_t columns = min_of(STRIP, a->x.cols - first);
    merge_chunks(a->x, moments, first, columns, mean, squares);
    for (int64_t j = 0; j < columns; j++) {
        int64_t k = first + j;
        double rstd = 1 / sqrt(squares[j] / n + a->eps), slope = rstd * row_of(a->gain, 0)[k];
        c.mean[k] = (float)mean[j];
        c.slope[k] = (float)slope;
        c.shift[k] = (float)(row_of(a->bias, 0)[k] - (mean[j] - c.mean[k]) * slope);
        if (mat_present(a->stats)) {
            row_of(a->stats, 0)[k] = c.mean[k];
            row_of(a->stats, 1)[k] = (float)rstd;
        }
        move(row_of(a->running_mean, 0) + k, a->momentum, mean[j]);
        move(row_of(a->running_var, 0) + k, a->momentum, squares[j] / fmax(n - 1, 1));
    }
}

void CPU(batch_norm)(const void *args)
{
    const struct batch_norm_args *a = args;
    int64_t n = a->x.rows, d = a->x.cols, rows = norm_block_rows(d), chunks = chunk_count(a->x);
    float *moments = a->call.scratch;
    struct coefficients coefficients = coefficients_at(moments + chunks * MOMENTS * d, d);
    int threads = threads_for(&a->call, n * d, GRAIN);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t c = 0; c < chunks; c++)
            chunk_moments(a->x, c * rows, min_of(n, (c + 1) * rows), moments + c * MOMENTS * d);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < d; k += STRIP)
            finish_columns(a, moments, coefficients, k);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < n; i++)
            apply(a->y, a->x, coefficients, i);
    }
}

int64_t CPU(batch_norm_scratch)(const void *args)
{
    const struct batch_norm_args *a = args;
    return float_bytes((chunk_count(a->x) * MOMENTS + 3) * a->x.cols);
}

void CPU(batch_norm_inference)(const void *args)
{
    const struct batch_norm_inference_args *a = args;
    int64_t d = a->x.cols;
    struct coefficients c = {row_of(a->running_mean, 0), a->call.scratch, row_of(a->bias, 0)};
    for (int64_t k = 0; k < d; k++)
        c.slope[k] = row_of(a->gain, 0)[k] / sqrtf(row_of(a->running_var, 0)[k] + (float)a->eps);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->x.rows; i++)
        apply(a->y, a->x, c, i);
}

int64_t CPU(batch_norm_inference_scratch)(const void *args)
{
    return float_bytes(((const struct batch_norm_inference_args *)args)->x.cols);
}

/* The sums of a chunk: t, then s. */
static void chunk_sums(const struct batch_norm_backward_args *a, int64_t first, int64_t end, float *sums)
{
    int64_t d = a->x.cols;
    const float *restrict mean = row_of(a->stats, 0), *restrict rstd = row_of(a->stats, 1);
    float *restrict t = sums, *restrict s = sums + d;
    memset(sums, 0, (size_t)(2 * d) * sizeof(float));
    for (int64_t i = first; i < end; i++) {
        const float *restrict x = row_of(a->x, i), *restrict dy = row_of(a->dy, i);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            t[k] += dy[k] * (x[k] - mean[k]);
            s[k] += dy[k];
        }
    }
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        t[k] *= rstd[k];
}

/* Totals of columns first .. over all chunks: added to the gradients; their means are written to `means`. */
static void finish_sums(const struct batch_norm_backward_args *a, const float *sums, float *means,
                        int64_t first)
{
    int64_t d = a->x.cols, columns = min_of(STRIP, d - first), chunks = chunk_count(a->x);
    struct mat to[] = {a->dgain, a->dbias};
    for (int part = 0; part < 2; part++) {
        double total[STRIP] = {0};
        for (int64_t c = 0; c < chunks; c++)
            for (int64_t j = 0; j < columns; j++)
                total[j] += sums[(2 * c + part) * d + first + j];
        for (int64_t j = 0; j < columns; j++) {
            float *gradient = mat_present(to[part]) ? row_of(to[part], 0) + first + j : NULL;
            means[part * d + first + j] = (float)(total[j] / (double)a->x.rows);
            if (gradient)
                *gradient = (float)((to[part].acc ? *gradient : 0) + total[j]);
        }
    }
}

static void row_backward(const struct batch_norm_backward_args *a, const float *means, int64_t i)
{
    int64_t d = a->x.cols;
    const float *restrict x = row_of(a->x, i), *restrict dy = row_of(a->dy, i), *restrict gain = a->gain.data;
    const float *restrict mean = row_of(a->stats, 0), *restrict rstd = row_of(a->stats, 1);
    const float *restrict t = means, *restrict s = means + d;
    float *restrict dx = row_of(a->dx, i);
    bool acc = a->dx.acc;
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        dx[k] = (acc ? dx[k] : 0) + (dy[k] - s[k] - (x[k] - mean[k]) * rstd[k] * t[k]) * (gain[k] * rstd[k]);
}

void CPU(batch_norm_backward)(const void *args)
{
    const struct batch_norm_backward_args *a = args;
    int64_t n = a->x.rows, d = a->x.cols, rows = norm_block_rows(d), chunks = chunk_count(a->x);
    int64_t rows_out = mat_present(a->dx) ? n : 0;
    float *sums = a->call.scratch, *means = sums + chunks * 2 * d;
    int threads = threads_for(&a->call, n * d, GRAIN);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t c = 0; c < chunks; c++)
            chunk_sums(a, c * rows, min_of(n, (c + 1) * rows), sums + c * 2 * d);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < d; k += STRIP)
            finish_sums(a, sums, means, k);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < rows_out; i++)
            row_backward(a, means, i);
    }
}

int64_t CPU(batch_norm_backward_scratch)(const void *args)
{
    const struct batch_norm_backward_args *a = args;
    return float_bytes((chunk_count(a->x) + 1) * 2 * a->x.cols);
}
