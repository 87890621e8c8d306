/*
 * Layer normalisation of each row, alone and of a sum, and its backward.
 *
 *   y = (x - mean) rstd gain + bias     stats = [mean, rstd]     x, y: N x D, gain, bias: 1 x D, stats: N x 2
 *   x = a + b when fused with the residual connection
 *   n = (x - mean) rstd, g = dy gain     dx (+)= (g - mean(g) - n mean(g n)) rstd
 *   dgain (+)= sum of dy n, dbias (+)= sum of dy over rows
 *
 * A row stays in the first-level cache for all its passes. dgain and dbias are summed over at most CHUNKS
 * runs of rows, each with its own accumulator, and these are added in order.
 */
#include "kernels/cpu/norm.h"
#include "kernels/cpu/vectors.h"

#include <math.h>
#include <string.h>

enum {
    CHUNKS = 64,
    CHUNK_ROWS = 4,
    GROUP = 4,      /* rows whose latencies overlap */
    PAIR = 2,       /* the same for wide rows, of which more go through memory slower */
    WIDE = 128,     /* columns */
    NEAR = 1 << 21, /* floats of a matrix; larger ones are read from memory, best by one row after another */
    GRAIN = 1 << 11
};

struct forward {
    struct call call;
    struct mat y, x, stats; /* x: the input, or where the sum of a and b is written */
    struct mat a, b;        /* absent without a residual connection */
    const float *gain, *bias;
    double eps;
};

/* x = a + b of a vector, which is added to the sum. */
INLINE void add_vector(vec *sum, float *x, const float *a, const float *b)
{
    vec both = load(a) + load(b);
    store(x, both);
    *sum += both;
}

/* x = a + b; returns its sum. */
INLINE float add_row(int64_t d, float *x, const float *a, const float *b)
{
    vec sum[NORM_WAYS] = {{0}};
    float rest = 0;
    int64_t k = 0;
    for (; k + NORM_WAYS * LANES <= d; k += NORM_WAYS * LANES)
        UNROLL
    for (int j = 0; j < NORM_WAYS; j++)
        add_vector(&sum[j], x + k + j * LANES, a + k + j * LANES, b + k + j * LANES);
    UNROLL
    for (int j = 0; j < NORM_WAYS - 1; j++)
        if (k + LANES <= d) {
            add_vector(&sum[j], x + k, a + k, b + k);
            k += LANES;
        }
    for (; k < d; k++)
        rest += x[k] = a[k] + b[k];
    return norm_total(sum) + rest;
}

/* `height` rows; memory is read and written row by row, as prefetchers expect. */
INLINE void group_forward(int height, bool add, const struct forward *f, int64_t first)
{
    int64_t d = f->y.cols;
    float mean[GROUP], rstd[GROUP], share = 1 / (float)d, floor = (float)f->eps;
    UNROLL
    for (int r = 0; r < height; r++) {
        int64_t i = first + r;
        mean[r] = add ? add_row(d, row_of(f->x, i), row_of(f->a, i), row_of(f->b, i))
                      : norm_sum(d, row_of(f->x, i));
        mean[r] *= share;
    }
    UNROLL
    for (int r = 0; r < height; r++)
        rstd[r] = 1 / sqrtf(norm_squares(d, row_of(f->x, first + r), mean[r]) * share + floor);
    UNROLL
    for (int r = 0; r < height; r++)
        norm_row(d, row_of(f->y, first + r), row_of(f->x, first + r), mean[r], rstd[r], f->gain, f->bias);
    for (int r = 0; r < height && mat_present(f->stats); r++) {
        row_of(f->stats, first + r)[0] = mean[r];
        row_of(f->stats, first + r)[1] = rstd[r];
    }
}

/* `height` rows, or those that are left. */
INLINE void rows_forward(int height, bool add, const struct forward *f, int64_t first)
{
    if (first + height <= f->y.rows)
        return group_forward(height, add, f, first);
    for (; first < f->y.rows; first++)
        group_forward(1, add, f, first);
}

INLINE void run(bool add, const struct forward *f)
{
    int threads = threads_for(&f->call, mat_size(f->y), GRAIN);
    int64_t n = f->y.rows;
    if (f->y.cols < WIDE) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t first = 0; first < n; first += GROUP)
            rows_forward(GROUP, add, f, first);
    } else {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t first = 0; first < n; first += PAIR)
            rows_forward(PAIR, add, f, first);
    }
}

void CPU(layer_norm)(const void *args)
{
    const struct layer_norm_args *a = args;
    run(false, &(struct forward){.call = a->call,
                                 .y = a->y,
                                 .x = a->x,
                                 .stats = a->stats,
                                 .gain = a->gain.data,
                                 .bias = a->bias.data,
                                 .eps = a->eps});
}

void CPU(add_layer_norm)(const void *args)
{
    const struct add_layer_norm_args *a = args;
    struct mat x = mat_present(a->sum) ? a->sum : a->y; /* y holds the sum until it is normalised */
    run(true, &(struct forward){.call = a->call,
                                .y = a->y,
                                .x = x,
                                .stats = a->stats,
                                .a = a->a,
                                .b = a->b,
                                .gain = a->gain.data,
                                .bias = a->bias.data,
                                .eps = a->eps});
}

/* The means of g and of g n. */
INLINE void row_means(int64_t d, const float *dy, const float *x, float mean, float rstd, const float *gain,
                      float *g_mean, float *gn_mean)
{
    vec g_lanes = {0}, gn_lanes = {0};
    float g_rest = 0, gn_rest = 0;
    int64_t k = 0;
    for (; k + LANES <= d; k += LANES) {
        vec g = load(dy + k) * load(gain + k);
        g_lanes += g;
        gn_lanes += g * ((load(x + k) - mean) * rstd);
    }
    for (; k < d; k++) {
        float g = dy[k] * gain[k];
        g_rest += g;
        gn_rest += g * ((x[k] - mean) * rstd);
    }
    *g_mean = (vm_sum(g_lanes) + g_rest) / (float)d;
    *gn_mean = (vm_sum(gn_lanes) + gn_rest) / (float)d;
}

/* dgain += the sum of dy n, dbias += the sum of dy over `height` rows. */
INLINE void add_rows(int height, int64_t d, const float *const dy[], const float *const x[],
                     const float mean[], const float rstd[], float *dgain, float *dbias)
{
    int64_t k = 0;
    for (; k + LANES <= d; k += LANES) {
        vec to_gain = load(dgain + k), to_bias = load(dbias + k);
        UNROLL
        for (int r = 0; r < height; r++) {
            vec from = load(dy[r] + k);
            to_gain += from * ((load(x[r] + k) - mean[r]) * rstd[r]);
            to_bias += from;
        }
        store(dgain + k, to_gain);
        store(dbias + k, to_bias);
    }
    for (; k < d; k++)
        for (int r = 0; r < height; r++) {
            dgain[k] += dy[r][k] * ((x[r][k] - mean[r]) * rstd[r]);
            dbias[k] += dy[r][k];
        }
}

INLINE void group_backward(int height, const struct layer_norm_backward_args *a, int64_t first, float *dgain,
                           float *dbias)
{
    const float *x[GROUP], *dy[GROUP], *gain = a->gain.data;
    float mean[GROUP], rstd[GROUP], g_mean[GROUP], gn_mean[GROUP];
    int64_t d = a->x.cols;
    UNROLL
    for (int r = 0; r < height; r++) {
        x[r] = row_of(a->x, first + r);
        dy[r] = row_of(a->dy, first + r);
        mean[r] = row_of(a->stats, first + r)[0];
        rstd[r] = row_of(a->stats, first + r)[1];
        row_means(d, dy[r], x[r], mean[r], rstd[r], gain, &g_mean[r], &gn_mean[r]);
    }
    add_rows(height, d, dy, x, mean, rstd, dgain, dbias);
    if (!mat_present(a->dx))
        return;
    UNROLL
    for (int r = 0; r < height; r++)
        norm_row_backward(d, row_of(a->dx, first + r), a->dx.acc, dy[r], x[r], mean[r], rstd[r], gain,
                          g_mean[r], gn_mean[r], d == 1);
}

static int64_t chunk_rows(int64_t n)
{
    return max_of(CHUNK_ROWS, blocks_of(n, CHUNKS));
}

void CPU(layer_norm_backward)(const void *args)
{
    const struct layer_norm_backward_args *a = args;
    int64_t n = a->x.rows, d = a->x.cols, rows = chunk_rows(n), chunks = blocks_of(n, rows);
    float *sums = a->call.scratch;
    int threads = threads_for(&a->call, n * d, GRAIN);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t c = 0; c < chunks; c++) {
            float *dgain = sums + c * 2 * d;
            memset(dgain, 0, (size_t)(2 * d) * sizeof(float));
            int64_t i = c * rows, end = min_of(n, (c + 1) * rows);
            for (; i + GROUP <= end && n * d <= NEAR; i += GROUP)
                group_backward(GROUP, a, i, dgain, dgain + d);
            for (; i < end; i++)
                group_backward(1, a, i, dgain, dgain + d);
        }
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < d; k += NORM_STRIP)
            norm_add_chunks(a->dgain, a->dbias, d, k, sums, chunks);
    }
}

int64_t CPU(layer_norm_backward_scratch)(const void *args)
{
    const struct layer_norm_backward_args *a = args;
    int64_t chunks = blocks_of(a->x.rows, chunk_rows(a->x.rows));
    return float_bytes(chunks * 2 * a->x.cols);
}
