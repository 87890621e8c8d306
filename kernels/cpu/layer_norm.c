/*
 * Layer normalisation of each row, and its backward.
 *
 *   y = (x - mean) rstd gain + bias     stats = [mean, rstd]     x, y: N x D, gain, bias: 1 x D, stats: N x 2
 *   n = (x - mean) rstd, g = dy gain     dx (+)= (g - mean(g) - n mean(g n)) rstd
 *   dgain (+)= sum of dy n, dbias (+)= sum of dy over rows
 *
 * A row stays in the first-level cache through its three sweeps. dgain and dbias are summed over at most
 * CHUNKS runs of rows, each with its own accumulator, and those are added in order.
 */
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

enum { CHUNKS = 64, CHUNK_ROWS = 32, STRIP = 64 };

static float row_mean(int64_t d, const float *x)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < d; k++)
        sum += x[k];
    return sum / (float)d;
}

static float row_variance(int64_t d, const float *x, float mean)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < d; k++)
        sum += (x[k] - mean) * (x[k] - mean);
    return sum / (float)d;
}

static void normalise(const struct layer_norm_args *a, int64_t i)
{
    int64_t d = a->x.cols;
    const float *x = row_of(a->x, i), *gain = a->gain.data, *bias = a->bias.data;
    float *y = row_of(a->y, i), mean = row_mean(d, x);
    float rstd = 1 / sqrtf(row_variance(d, x, mean) + (float)a->eps);
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        y[k] = (x[k] - mean) * rstd * gain[k] + bias[k];
    if (mat_present(a->stats)) {
        row_of(a->stats, i)[0] = mean;
        row_of(a->stats, i)[1] = rstd;
    }
}

void CPU(layer_norm)(const void *args)
{
    const struct layer_norm_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->x), 1 << 13);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->x.rows; i++)
        normalise(a, i);
}

/* What a chunk of rows accumulates, and g of the row at hand: 3 rows of D floats. */
static void row_backward(const struct layer_norm_backward_args *a, int64_t i, float *sums)
{
    int64_t d = a->x.cols;
    const float *restrict x = row_of(a->x, i), *restrict dy = row_of(a->dy, i), *restrict gain = a->gain.data;
    float *restrict dgain = sums, *restrict dbias = sums + d, *restrict g = sums + 2 * d;
    float mean = row_of(a->stats, i)[0], rstd = row_of(a->stats, i)[1], g_sum = 0, gn_sum = 0;
#pragma omp simd reduction(+ : g_sum, gn_sum)
    for (int64_t k = 0; k < d; k++) {
        float n = (x[k] - mean) * rstd;
        g[k] = dy[k] * gain[k];
        dgain[k] += dy[k] * n;
        dbias[k] += dy[k];
        g_sum += g[k];
        gn_sum += g[k] * n;
    }
    if (!mat_present(a->dx))
        return;
    float *restrict dx = row_of(a->dx, i), g_mean = g_sum / (float)d, gn_mean = gn_sum / (float)d;
    bool acc = a->dx.acc;
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        dx[k] = (acc ? dx[k] : 0) + (g[k] - g_mean - (x[k] - mean) * rstd * gn_mean) * rstd;
}

static int64_t chunk_rows(int64_t n)
{
    return max_of(CHUNK_ROWS, blocks_of(n, CHUNKS));
}

/* Columns k .. k + STRIP - 1 of dgain and dbias. */
static void add_chunks(const struct layer_norm_backward_args *a, int64_t k, int64_t chunks)
{
    int64_t d = a->x.cols, n = min_of(STRIP, d - k);
    const float *sums = (const float *)a->call.scratch + k;
    if (mat_present(a->dgain))
        add_accumulators(n, row_of(a->dgain, 0) + k, a->dgain.acc, sums, chunks, 3 * d);
    if (mat_present(a->dbias))
        add_accumulators(n, row_of(a->dbias, 0) + k, a->dbias.acc, sums + d, chunks, 3 * d);
}

void CPU(layer_norm_backward)(const void *args)
{
    const struct layer_norm_backward_args *a = args;
    int64_t n = a->x.rows, d = a->x.cols, rows = chunk_rows(n), chunks = blocks_of(n, rows);
    float *sums = a->call.scratch;
    int threads = threads_for(&a->call, n * d, 1 << 13);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t c = 0; c < chunks; c++) {
            memset(sums + c * 3 * d, 0, (size_t)(2 * d) * sizeof(float));
            for (int64_t i = c * rows; i < min_of(n, (c + 1) * rows); i++)
                row_backward(a, i, sums + c * 3 * d);
        }
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < d; k += STRIP)
            add_chunks(a, k, chunks);
    }
}

int64_t CPU(layer_norm_backward_scratch)(const void *args)
{
    const struct layer_norm_backward_args *a = args;
    int64_t chunks = blocks_of(a->x.rows, chunk_rows(a->x.rows));
    return float_bytes(chunks * 3 * a->x.cols);
}
