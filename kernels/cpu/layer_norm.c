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

#include <math.h>
#include <string.h>

enum { CHUNKS = 64, CHUNK_ROWS = 4, GROUP = 4, GRAIN = 1 << 11 };

/*
 * y of rows first .. end - 1 from x and the sums of its rows; mean and rstd are written if stats is present.
 */
static void normalise(struct mat y, struct mat stats, struct mat x, const float *sums, const float *gain,
                      const float *bias, double eps, int64_t first, int64_t end)
{
    int64_t d = y.cols;
    float mean[GROUP], rstd[GROUP] = {0}, share = 1 / (float)d, floor = (float)eps;
    for (int64_t i = first; i < end; i++) {
        mean[i - first] = sums[i - first] * share;
        rstd[i - first] = norm_squares(d, row_of(x, i), mean[i - first]);
    }
    for (int r = 0; r < GROUP; r++)
        rstd[r] = 1 / sqrtf(rstd[r] * share + floor);
    for (int64_t i = first; i < end; i++)
        norm_row(d, row_of(y, i), row_of(x, i), mean[i - first], rstd[i - first], gain, bias);
    for (int64_t i = first; i < end && mat_present(stats); i++) {
        row_of(stats, i)[0] = mean[i - first];
        row_of(stats, i)[1] = rstd[i - first];
    }
}

void CPU(layer_norm)(const void *args)
{
    const struct layer_norm_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < a->x.rows; first += GROUP) {
        int64_t end = min_of(a->x.rows, first + GROUP);
        float sums[GROUP];
        for (int64_t i = first; i < end; i++)
            sums[i - first] = norm_sum(a->x.cols, row_of(a->x, i));
        normalise(a->y, a->stats, a->x, sums, a->gain.data, a->bias.data, a->eps, first, end);
    }
}

/* x = a + b; returns its sum. */
static float add_row(int64_t d, float *restrict x, const float *a, const float *b)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < d; k++) {
        x[k] = a[k] + b[k];
        sum += x[k];
    }
    return sum;
}

void CPU(add_layer_norm)(const void *args)
{
    const struct add_layer_norm_args *a = args;
    struct mat x = mat_present(a->sum) ? a->sum : a->y; /* y holds the sum until it is normalised */
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < a->y.rows; first += GROUP) {
        int64_t end = min_of(a->y.rows, first + GROUP);
        float sums[GROUP];
        for (int64_t i = first; i < end; i++)
            sums[i - first] = add_row(a->y.cols, row_of(x, i), row_of(a->a, i), row_of(a->b, i));
        normalise(a->y, a->stats, x, sums, a->gain.data, a->bias.data, a->eps, first, end);
    }
}

static void row_backward(const struct layer_norm_backward_args *a, int64_t i, float *dgain, float *dbias)
{
    int64_t d = a->x.cols;
    const float *x = row_of(a->x, i), *dy = row_of(a->dy, i), *gain = a->gain.data;
    float mean = row_of(a->stats, i)[0], rstd = row_of(a->stats, i)[1];
    struct norm_sums sums = norm_row_sums(d, dy, x, mean, rstd, gain, dgain, dbias);
    if (mat_present(a->dx))
        norm_row_backward(d, row_of(a->dx, i), a->dx.acc, dy, x, mean, rstd, gain, sums, d);
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
            for (int64_t i = c * rows; i < min_of(n, (c + 1) * rows); i++)
                row_backward(a, i, dgain, dgain + d);
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
