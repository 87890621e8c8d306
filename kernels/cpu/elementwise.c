/*
 * Addition, copy, fill, and rows times a number each. Contiguous matrices are one run of elements, divided
 * into pieces of PIECE; others are divided by rows.
 */
#include "kernels/cpu/elementwise.h"

void CPU(add)(const void *args)
{
    const struct add_args *r = args;
    struct pieces p = pieces_of(r->y.rows, r->y.cols, (const struct mat[]){r->y, r->a, r->b}, 3);
    int threads = threads_for(&r->call, mat_size(r->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        float *y = piece(p, r->y, i);
        const float *a = piece(p, r->a, i), *b = piece(p, r->b, i);
        int64_t n = piece_size(p, i);
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            y[k] = a[k] + b[k];
    }
}

void CPU(copy)(const void *args)
{
    const struct copy_args *r = args;
    struct pieces p = pieces_of(r->y.rows, r->y.cols, (const struct mat[]){r->y, r->x}, 2);
    int threads = threads_for(&r->call, mat_size(r->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        float *y = piece(p, r->y, i);
        const float *x = piece(p, r->x, i);
        int64_t n = piece_size(p, i);
        if (r->y.acc) {
#pragma omp simd
            for (int64_t k = 0; k < n; k++)
                y[k] += x[k];
        } else {
#pragma omp simd
            for (int64_t k = 0; k < n; k++)
                y[k] = x[k];
        }
    }
}

void CPU(fill)(const void *args)
{
    const struct fill_args *r = args;
    struct pieces p = pieces_of(r->y.rows, r->y.cols, (const struct mat[]){r->y}, 1);
    int threads = threads_for(&r->call, mat_size(r->y), GRAIN);
    float value = (float)r->value;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        float *y = piece(p, r->y, i);
        int64_t n = piece_size(p, i);
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            y[k] = value;
    }
}

/* y_i (+)= w_i x_i */
static void scale_each_row(const struct call *call, struct mat y, struct mat x, struct mat w)
{
#pragma omp parallel for schedule(static) num_threads(threads_for(call, mat_size(y), GRAIN))
    for (int64_t i = 0; i < y.rows; i++) {
        float *to = row_of(y, i), by = *row_of(w, i);
        const float *from = row_of(x, i);
#pragma omp simd
        for (int64_t k = 0; k < y.cols; k++)
            to[k] = (y.acc ? to[k] : 0) + by * from[k];
    }
}

void CPU(scale_rows)(const void *args)
{
    const struct scale_rows_args *a = args;
    scale_each_row(&a->call, a->y, a->x, a->w);
}

void CPU(scale_rows_backward)(const void *args)
{
    const struct scale_rows_backward_args *a = args;
    scale_each_row(&a->call, a->dx, a->dy, a->w);
}
