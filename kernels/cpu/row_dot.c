/*
 * Scalar products of rows, and the backward. a, b: N x D, y: N x 1.
 *
 *   y_i = sum of a_ik b_ik    da (+)= dy b, db (+)= dy a
 */
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/vector_math.h"

void CPU(row_dot)(const void *args)
{
    const struct row_dot_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->a), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->a.rows; i++)
        *row_of(a->y, i) = vm_dot(a->a.cols, row_of(a->a, i), row_of(a->b, i));
}

/* to_i (+)= scale_i from_i; to may be absent. */
static void scale_row(struct mat to, struct mat scale, struct mat from, int64_t i)
{
    float *restrict y = row_of(to, i), s = *row_of(scale, i);
    const float *restrict x = row_of(from, i);
#pragma omp simd
    for (int64_t k = 0; k < to.cols; k++)
        y[k] = (to.acc ? y[k] : 0) + s * x[k];
}

void CPU(row_dot_backward)(const void *args)
{
    const struct row_dot_backward_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->a), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->a.rows; i++) {
        if (mat_present(a->da))
            scale_row(a->da, a->dy, a->b, i);
        if (mat_present(a->db))
            scale_row(a->db, a->dy, a->a, i);
    }
}
