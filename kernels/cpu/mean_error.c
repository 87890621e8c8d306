/*
 * Mean squared and mean absolute error over the n = N M entries.
 *
 *   power 2    loss = sum (y - target)^2 / n    dy (+)= dloss 2 / n (y - target)
 *   power 1    loss = sum |y - target| / n      dy (+)= dloss / n sign(y - target), 0 where they are equal
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

void CPU(mean_error)(const void *args)
{
    const struct mean_error_args *a = args;
    struct pieces p = pieces_of_both(a->y, a->target);
    float *sums = a->call.scratch;
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++)
        sums[i] = (a->power == 2 ? squared_distance : absolute_distance)(piece_size(p, i), piece(p, a->y, i),
                                                                         piece(p, a->target, i));
    double sum = 0;
    for (int64_t i = 0; i < p.count; i++)
        sum += sums[i];
    *row_of(a->loss, 0) = (float)(sum / (double)p.total);
}

int64_t CPU(mean_error_scratch)(const void *args)
{
    const struct mean_error_args *a = args;
    return float_bytes(pieces_of_both(a->y, a->target).count);
}

/* n entries of dy; `squares` is a compile-time constant after inlining. */
INLINE void put_slopes(int64_t n, float *restrict dy, bool acc, const float *y, const float *target,
                       float scale, bool squares)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        float sign = (y[k] > target[k] ? scale : 0) - (y[k] < target[k] ? scale : 0);
        dy[k] = (acc ? dy[k] : 0) + (squares ? scale * (y[k] - target[k]) : sign);
    }
}

void CPU(mean_error_backward)(const void *args)
{
    const struct mean_error_backward_args *a = args;
    struct pieces p = pieces_of(a->y.rows, a->y.cols, (const struct mat[]){a->dy, a->y, a->target}, 3);
    float scale = *row_of(a->dloss, 0) * (float)(a->power / (double)p.total);
    int threads = threads_for(&a->call, p.total, GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        float *dy = piece(p, a->dy, i), *y = piece(p, a->y, i), *target = piece(p, a->target, i);
        if (a->power == 2)
            put_slopes(piece_size(p, i), dy, a->dy.acc, y, target, scale, true);
        else
            put_slopes(piece_size(p, i), dy, a->dy.acc, y, target, scale, false);
    }
}
