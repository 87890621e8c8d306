/*
 * Mean squared and mean absolute error over the n = N M entries.
 *
 *   mse    loss = sum (y - target)^2 / n    dy (+)= dloss 2 / n (y - target)
 *   mae    loss = sum |y - target| / n      dy (+)= dloss / n sign(y - target), 0 where they are equal
 *
 * Partial sums are added in order, in double.
 */
#include "kernels/cpu/elementwise.h"

#include <math.h>

static struct pieces pieces_of_both(struct mat y, struct mat target)
{
    return pieces_of(y.rows, y.cols, (const struct mat[]){y, target}, 2);
}

static float squared_distance(int64_t n, const float *y, const float *target)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++)
        sum += (y[k] - target[k]) * (y[k] - target[k]);
    return sum;
}

static float absolute_distance(int64_t n, const float *y, const float *target)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++)
        sum += fabsf(y[k] - target[k]);
    return sum;
}

static void mean_distance(const struct call *call, struct mat loss, struct mat y, struct mat target,
                          float (*distance)(int64_t n, const float *y, const float *target))
{
    struct pieces p = pieces_of_both(y, target);
    float *sums = call->scratch;
    int threads = threads_for(call, mat_size(y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++)
        sums[i] = distance(piece_size(p, i), piece(p, y, i), piece(p, target, i));
    double sum = 0;
    for (int64_t i = 0; i < p.count; i++)
        sum += sums[i];
    *row_of(loss, 0) = (float)(sum / (double)p.total);
}

void CPU(mse)(const void *args)
{
    const struct mse_args *a = args;
    mean_distance(&a->call, a->loss, a->y, a->target, squared_distance);
}

int64_t CPU(mse_scratch)(const void *args)
{
    const struct mse_args *a = args;
    return float_bytes(pieces_of_both(a->y, a->target).count);
}

void CPU(mae)(const void *args)
{
    const struct mae_args *a = args;
    mean_distance(&a->call, a->loss, a->y, a->target, absolute_distance);
}

int64_t CPU(mae_scratch)(const void *args)
{
    const struct mae_args *a = args;
    return float_bytes(pieces_of_both(a->y, a->target).count);
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

void CPU(mae_backward)(const void *args)
{
    const struct mae_backward_args *a = args;
    struct pieces p = pieces_of(a->y.rows, a->y.cols, (const struct mat[]){a->dy, a->y, a->target}, 3);
    float share = *row_of(a->dloss, 0) * (float)(1 / (double)p.total);
    int threads = threads_for(&a->call, p.total, GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        float *restrict dy = piece(p, a->dy, i);
        const float *y = piece(p, a->y, i), *target = piece(p, a->target, i);
        int64_t n = piece_size(p, i);
#pragma omp simd
        for (int64_t k = 0; k < n; k++) {
            float g = (y[k] > target[k] ? share : 0) - (y[k] < target[k] ? share : 0);
            dy[k] = (a->dy.acc ? dy[k] : 0) + g;
        }
    }
}
