/*
 * Cross-entropy of each row's softmax against the row's label, a column, and its backward. y: N x M.
 *
 *   lse_i = log sum_k exp(y_ik)    loss = sum_i (lse_i - y_i,label) / N
 *   dy_ik (+)= dloss (exp(y_ik - lse_i) - [k is the label]) / N
 *
 * The largest entry of the row is subtracted before exp. There are few columns, so GEMM_COLS rows at a time
 * are packed like a transposed matrix in gemm.h, and vectors run along rows. Losses are summed in double, and
 * partial sums are added in order.
 */
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"

#include <omp.h>

enum { RUN = GEMM_COLS, LANES = GEMM_LANES, GRAIN = 1 << 12 };

static int64_t label_of(struct mat label, int64_t i)
{
    return ((const int64_t *)label.data)[i * label.ld];
}

/* lse of LANES rows; entry k of the rows is at y + k ld. */
static void log_sum_exp(int64_t m, const float *y, int64_t ld, float *lse)
{
    float top[LANES], halves[LANES] = {0};
    for (int l = 0; l < LANES; l++)
        top[l] = y[l];
    for (int64_t k = 1; k < m; k++) {
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            top[l] = y[k * ld + l] > top[l] ? y[k * ld + l] : top[l];
    }
    for (int64_t k = 0; k < m; k++) {
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            halves[l] += vm_half_exp(y[k * ld + l] - top[l]);
    }
#pragma omp simd
    for (int l = 0; l < LANES; l++)
        lse[l] = top[l] + vm_log(halves[l] + halves[l]);
}

static double run_loss(const struct cross_entropy_args *a, int64_t first, float *packed)
{
    int64_t m = a->y.cols, rows = min_of(RUN, a->y.rows - first), ld = round_up(rows, LANES);
    float lse[RUN];
    double sum = 0;
    gemm_pack(m, rows, gemm_transposed(row_of(a->y, first), a->y.ld), packed);
    for (int64_t i = 0; i < rows; i += LANES)
        log_sum_exp(m, packed + i, ld, lse + i);
    for (int64_t i = 0; i < rows; i++) {
        sum += (double)lse[i] - row_of(a->y, first + i)[label_of(a->label, first + i)];
        if (mat_present(a->lse))
            *row_of(a->lse, first + i) = lse[i];
    }
    return sum;
}

static int64_t sums_bytes(const struct cross_entropy_args *a)
{
    return round_up(blocks_of(a->y.rows, RUN) * (int64_t)sizeof(double), 64);
}

static int64_t packed_bytes(const struct cross_entropy_args *a)
{
    return float_bytes(gemm_packed_size(a->y.cols, RUN));
}

void CPU(cross_entropy)(const void *args)
{
    const struct cross_entropy_args *a = args;
    int64_t n = a->y.rows, runs = blocks_of(n, RUN);
    double *sums = a->call.scratch, sum = 0;
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel num_threads(threads)
    {
        float *packed =
            (float *)((char *)a->call.scratch + sums_bytes(a) + omp_get_thread_num() * packed_bytes(a));
#pragma omp for schedule(static)
        for (int64_t r = 0; r < runs; r++)
            sums[r] = run_loss(a, r * RUN, packed);
    }
    for (int64_t r = 0; r < runs; r++)
        sum += sums[r];
    *row_of(a->loss, 0) = (float)(sum / (double)n);
}

int64_t CPU(cross_entropy_scratch)(const void *args)
{
    const struct cross_entropy_args *a = args;
    return sums_bytes(a) + a->call.threads * packed_bytes(a);
}

void CPU(cross_entropy_backward)(const void *args)
{
    const struct cross_entropy_backward_args *a = args;
    int64_t m = a->y.cols;
    float share = (float)(*row_of(a->dloss, 0) / (double)a->y.rows);
    bool acc = a->dy.acc;
    int threads = threads_for(&a->call, mat_size(a->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->y.rows; i++) {
        const float *restrict y = row_of(a->y, i);
        float *restrict dy = row_of(a->dy, i), lse = *row_of(a->lse, i);
#pragma omp simd
        for (int64_t k = 0; k < m; k++)
            dy[k] = (acc ? dy[k] : 0) + vm_exp(y[k] - lse) * share;
        dy[label_of(a->label, i)] -= share;
    }
}
