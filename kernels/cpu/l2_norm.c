/*
 * Rows of length one, and the backward. x, y: N x D, scale: N x 1.
 *
 *   y = x scale, scale = 1 / sqrt(sum x^2 + eps)    dx (+)= (dy - y sum dy y) scale
 */
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/norm.h"

#include <math.h>

void CPU(l2_norm)(const void *args)
{
    const struct l2_norm_args *a = args;
    int64_t d = a->x.cols;
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->x.rows; i++) {
        const float *restrict x = row_of(a->x, i);
        float *restrict y = row_of(a->y, i);
        float scale = 1 / sqrtf(norm_squares(d, x, 0) + (float)a->eps);
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            y[k] = x[k] * scale;
        if (mat_present(a->scale))
            *row_of(a->scale, i) = scale;
    }
}

void CPU(l2_norm_backward)(const void *args)
{
    const struct l2_norm_backward_args *a = args;
    int64_t d = a->y.cols;
    bool acc = a->dx.acc;
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->y.rows; i++) {
        const float *restrict y = row_of(a->y, i), *restrict dy = row_of(a->dy, i);
        float *restrict dx = row_of(a->dx, i);
        float along = vm_dot(d, dy, y), scale = *row_of(a->scale, i);
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            dx[k] = (acc ? dx[k] : 0) + (dy[k] - y[k] * along) * scale;
    }
}
