/*
 * Mean of the rows of each graph, and its backward: y = sum of x / rows, dx (+)= dy / rows. x: N x D, y: B x
 * D.
 *
 * A task is STRIP columns of a graph. Rows are summed RUN at a time and the runs' sums added, which keeps the
 * error of long sums small.
 */
#include "kernels/cpu/blocks.h"

enum { STRIP = 64, RUN = 256 };

static void pool_strip(const struct mean_pool_args *a, int64_t g, int64_t first)
{
    int64_t n = min_of(STRIP, a->y.cols - first), end = graph_first(a->graphs, g + 1);
    float total[STRIP] = {0}, scale = 1 / (float)graph_size(a->graphs, g);
    for (int64_t begin = graph_first(a->graphs, g); begin < end; begin += RUN) {
        float sum[STRIP] = {0};
        for (int64_t i = begin; i < min_of(end, begin + RUN); i++) {
            const float *x = row_of(a->x, i) + first;
#pragma omp simd
            for (int64_t k = 0; k < n; k++)
                sum[k] += x[k];
        }
        for (int64_t k = 0; k < n; k++)
            total[k] += sum[k];
    }
    float *y = row_of(a->y, g) + first;
    for (int64_t k = 0; k < n; k++)
        y[k] = total[k] * scale;
}

void CPU(mean_pool)(const void *args)
{
    const struct mean_pool_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->x), 1 << 13);
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
    for (int64_t g = 0; g < a->y.rows; g++)
        for (int64_t k = 0; k < a->y.cols; k += STRIP)
            pool_strip(a, g, k);
}

void CPU(mean_pool_backward)(const void *args)
{
    const struct mean_pool_backward_args *a = args;
    int64_t n = a->dx.rows, d = a->dx.cols, blocks = block_count(a->graphs, n, RUN);
    bool acc = a->dx.acc;
    int threads = threads_for(&a->call, n * d, 1 << 13);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t number = 0; number < blocks; number++) {
        struct block b = block_at(a->graphs, RUN, number);
        float scale = 1 / (float)graph_size(a->graphs, b.graph);
        const float *dy = row_of(a->dy, b.graph);
        for (int64_t i = b.first; i < b.first + b.rows; i++) {
            float *restrict dx = row_of(a->dx, i);
#pragma omp simd
            for (int64_t k = 0; k < d; k++)
                dx[k] = (acc ? dx[k] : 0) + dy[k] * scale;
        }
    }
}
