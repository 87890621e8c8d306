/*
 * Cross-entropy of sigmoid(y) against labels 0 or 1, over the n = N M entries, and its backward.
 *
 *   loss = sum (max(z, 0) + log(1 + exp(-|z|))) / n, z = label ? -y : y
 *   dy (+)= dloss (1 / (1 + exp(-y)) - label) / n
 *
 * Losses are summed in double, a row or more at a time, and partial sums are added in order.
 */
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/vector_math.h"

#include <math.h>

enum { RUN = 1024 /* entries that are summed at a time, at least */ };

static int64_t rows_of_run(struct mat y)
{
    return blocks_of(RUN, y.cols);
}

static const int64_t *labels_of(struct mat label, int64_t i)
{
    return (const int64_t *)label.data + i * label.ld;
}

static double row_loss(int64_t m, const float *y, const int64_t *label)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < m; k++) {
        float z = (int32_t)label[k] ? -y[k] : y[k];
        sum += (double)((z > 0 ? z : 0) + vm_log1p_exp(-fabsf(z)));
    }
    return sum;
}

void CPU(binary_cross_entropy)(const void *args)
{
    const struct binary_cross_entropy_args *a = args;
    int64_t n = a->y.rows, rows = rows_of_run(a->y), runs = blocks_of(n, rows);
    double *sums = a->call.scratch, sum = 0;
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t r = 0; r < runs; r++) {
        sums[r] = 0;
        for (int64_t i = r * rows; i < min_of(n, (r + 1) * rows); i++)
            sums[r] += row_loss(a->y.cols, row_of(a->y, i), labels_of(a->label, i));
    }
    for (int64_t r = 0; r < runs; r++)
        sum += sums[r];
    *row_of(a->loss, 0) = (float)(sum / (double)mat_size(a->y));
}

int64_t CPU(binary_cross_entropy_scratch)(const void *args)
{
    const struct binary_cross_entropy_args *a = args;
    return round_up(blocks_of(a->y.rows, rows_of_run(a->y)) * (int64_t)sizeof(double), 64);
}

void CPU(binary_cross_entropy_backward)(const void *args)
{
    const struct binary_cross_entropy_backward_args *a = args;
    float share = (float)(*row_of(a->dloss, 0) / (double)mat_size(a->y));
    bool acc = a->dy.acc;
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->y.rows; i++) {
        const float *restrict y = row_of(a->y, i);
        const int64_t *restrict label = labels_of(a->label, i);
        float *restrict dy = row_of(a->dy, i);
#pragma omp simd
        for (int64_t k = 0; k < a->y.cols; k++)
            dy[k] = (acc ? dy[k] : 0) + (vm_logistic(y[k]) - (float)(int32_t)label[k]) * share;
    }
}
