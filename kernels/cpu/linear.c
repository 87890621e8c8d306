/*
 * Linear layer: z = x w' + b, y = act(z), pre = z. x: N x D, w: M x D, b: 1 x M, y and pre: N x M.
 *
 * A task is a block of rows and columns of z; bias and activation follow each product while it is in the
 * first-level cache. Two variants: "simd" packs w once, for all threads, and uses gemm.h; "blas" lets CBLAS pack
 * what it needs in every task, and so takes larger ones.
 */
#include "kernels/cpu/activation.h"
#include "kernels/cpu/blas.h"

enum { STRIP = 64 }; /* columns whose rows of a task stay in the first-level cache */

struct layer {
    const struct linear_args *a;
    bool blas;
    float *packed;
    int64_t rows, cols; /* of a task */
};

/* Tasks of about 96 rows; fewer rows than 16 tasks need are made up for by cutting columns. */
static struct layer layer_of(const struct linear_args *a, bool blas)
{
    int64_t n = a->y.rows, m = a->y.cols;
    int64_t row_tasks = blocks_of(n, blas ? 192 : 96);
    int64_t col_tasks = min_of(blocks_of(16, row_tasks), blocks_of(m, STRIP));
    int64_t rows = round_up(blocks_of(n, row_tasks), GEMM_ROWS);
    return (struct layer){a, blas, a->call.scratch, rows, round_up(blocks_of(m, col_tasks), STRIP)};
}

static void product(const struct layer *l, int64_t i, int64_t rows, int64_t j, int64_t cols, struct mat z)
{
    struct mat x = l->a->x, w = l->a->w;
    float *to = row_of(z, i) + j;
    if (l->blas)
        blas_product(rows, cols, x.cols, gemm_in(row_of(x, i), x.ld), gemm_transposed(row_of(w, j), w.ld), to,
                     z.ld, false);
    else
        CPU(gemm_packed)(rows, cols, x.cols, gemm_in(row_of(x, i), x.ld), l->packed + j * x.cols, to, z.ld, false);
}

/* Rows i .. and columns j .. of y. */
static void block(const struct layer *l, int64_t i, int64_t rows, int64_t j, int64_t cols)
{
    static const float zeros[STRIP];
    const struct linear_args *a = l->a;
    bool plain = !a->act && !mat_present(a->b) && !mat_present(a->pre);
    struct mat z = mat_present(a->pre) ? a->pre : a->y;
    int64_t step = l->blas ? cols : STRIP;
    for (int64_t s = j; s < j + cols; s += step) {
        product(l, i, rows, s, min_of(step, j + cols - s), z);
        for (int64_t r = i; r < i + rows && !plain; r++)
            for (int64_t t = s; t < min_of(s + step, j + cols); t += STRIP)
                activate(a->act, min_of(STRIP, j + cols - t), row_of(z, r) + t,
                         mat_present(a->b) ? row_of(a->b, 0) + t : zeros, row_of(a->y, r) + t);
    }
}

static void run(const struct linear_args *a, bool blas)
{
    struct layer l = layer_of(a, blas);
    int64_t n = a->y.rows, m = a->y.cols, k = a->x.cols;
    int threads = threads_for(&a->call, n * m * k, 1 << 15);
#pragma omp parallel num_threads(threads)
    {
        if (!blas) {
#pragma omp for schedule(static)
            for (int64_t j = 0; j < m; j += GEMM_COLS)
                CPU(gemm_pack)(k, min_of(GEMM_COLS, m - j), gemm_transposed(row_of(a->w, j), a->w.ld),
                               l.packed + j * k);
        }
#pragma omp for collapse(2) schedule(dynamic) nowait
        for (int64_t i = 0; i < n; i += l.rows)
            for (int64_t j = 0; j < m; j += l.cols)
                block(&l, i, min_of(l.rows, n - i), j, min_of(l.cols, m - j));
    }
}

void CPU(linear)(const void *args)
{
    run(args, false);
}

int64_t CPU(linear_scratch)(const void *args)
{
    const struct linear_args *a = args;
    return float_bytes(gemm_packed_size(a->x.cols, a->y.cols));
}

#if HAVE_CBLAS
void CPU(linear_blas)(const void *args)
{
    run(args, true);
}
#endif
