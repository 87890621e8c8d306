/*
 * Mean squared error over the N M entries: loss = sum (y - target)^2 / (N M), dy (+)= dloss 2 / (N M) (y -
 * target).
 *
 * Partial sums are added in order, in double.
 */
#include "kernels/cpu/elementwise.h"

static struct pieces pieces_of_mse(const struct mse_args *a)
{
    return pieces_of(a->y.rows, a->y.cols, (const struct mat[]){a->y, a->target}, 2);
}

static float squared_distance(int64_t n, const float *y, const float *target)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++)
        sum += (y[k] - target[k]) * (y[k] - target[k]);
    return sum;
}

void CPU(mse)(const void *args)
{
    const struct mse_args *a = args;
    struct pieces p = pieces_of_mse(a);
    float *sums = a->call.scratch;
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++)
        sums[i] = squared_distance(piece_size(p, i), piece(p, a->y, i), piece(p, a->target, i));
    double sum = 0;
    for (int64_t i = 0; i < p.count; i++)
        sum += sums[i];
    *row_of(a->loss, 0) = (float)(sum / (double)p.total);
}

int64_t CPU(mse_scratch)(const void *args)
{
    return float_bytes(pieces_of_mse(args).count);
}

void CPU(mse_backward)(const void *args)
{
    const struct mse_backward_args *a = args;
    struct pieces p = pieces_of(a->y.rows, a->y.cols, (const struct mat[]){a->dy, a->y, a->target}, 3);
    float scale = *row_of(a->dloss, 0) * (float)(2 / (double)p.total);
    int threads = threads_for(&a->call, p.total, GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        float *restrict dy = piece(p, a->dy, i);
        const float *y = piece(p, a->y, i), *target = piece(p, a->target, i);
        int64_t n = piece_size(p, i);
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            dy[k] = (a->dy.acc ? dy[k] : 0) + scale * (y[k] - target[k]);
    }
}
