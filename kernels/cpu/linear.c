/*
 * Linear layer: z = x w' + b, y = act(z), pre = z. x: N x D, w: M x D, b: 1 x M, y and pre: N x M.
 *
 * A task is a block of rows and columns of z; bias and activation are applied while the product is in the
 * first-level cache. Two variants: "simd" packs w once, for all threads, and uses gemm.h; "blas" lets CBLAS
 * pack its operands in every task, and so uses larger tasks. If there are few rows, no core reads, or waits
 * for, what another packed: each thread has its share of the rows if w is small, otherwise of the columns of
 * w.
 */
#include "kernels/cpu/blas.h"
#include "kernels/cpu/finish.h"

enum {
    FEW_ROWS = 192, /* for which x stays in the second-level cache */
};

struct layer {
    const struct linear_args *a;
    bool blas;
    float *packed;
    struct gemm_grid grid;
};

static struct layer layer_of(const struct linear_args *a, bool blas)
{
    struct gemm_grid grid = gemm_grid(a->y.rows, a->y.cols, a->x.cols, blas ? 192 : 96);
    return (struct layer){a, blas, a->call.scratch, grid};
}

/* Columns j .. of z, with the bias; packed: of the same columns of w'. */
static void product(const struct layer *l, const float *packed, int64_t i, int64_t rows, int64_t j,
                    int64_t cols, struct mat z)
{
    struct mat x = l->a->x, w = l->a->w;
    const float *bias = mat_present(l->a->b) ? row_of(l->a->b, 0) + j : NULL;
    float *to = row_of(z, i) + j;
    if (!l->blas)
        return gemm_biased(rows, cols, x.cols, gemm_in(row_of(x, i), x.ld), packed, to, z.ld, bias);
    blas_product(rows, cols, x.cols, gemm_in(row_of(x, i), x.ld), gemm_transposed(row_of(w, j), w.ld), to,
                 z.ld, false);
    for (int64_t r = 0; r < rows && bias; r++)
        add_accumulators(cols, to + r * z.ld, true, bias, 1, 0);
}

/* Rows i .. and columns j .. of y. */
static void block(const struct layer *l, const float *packed, int64_t i, int64_t rows, int64_t j,
                  int64_t cols)
{
    const struct linear_args *a = l->a;
    struct mat z = mat_present(a->pre) ? a->pre : a->y, y = a->y;
    if (l->blas)
        product(l, NULL, i, rows, j, cols, z);
    for (int64_t s = j; s < j + cols; s += STRIP) {
        int64_t width = min_of(STRIP, j + cols - s);
        if (!l->blas)
            product(l, packed + (s - j) * a->x.cols, i, rows, s, width, z);
        struct mat z_strip = {.data = row_of(z, i) + s, .ld = z.ld};
        struct mat y_strip = {.data = row_of(y, i) + s, .ld = y.ld};
        if (a->act || mat_present(a->pre))
            finish_strip(a->act, rows, width, z_strip, y_strip);
    }
}

static void pack(const struct layer *l, int64_t j, int64_t cols, float *packed)
{
    struct mat w = l->a->w;
    gemm_pack(w.cols, cols, gemm_transposed(row_of(w, j), w.ld), packed);
}

static bool small(const struct linear_args *a)
{
    return mat_size(a->w) <= GEMM_SMALL;
}

/* Floats that a thread packs of a small w. */
static int64_t per_thread(const struct linear_args *a)
{
    return (float_bytes(gemm_packed_size(a->x.cols, a->y.cols)) + THREAD_GAP) / 4;
}

/*
 * A task has a share of the rows and packs its columns of w itself. Its blocks are GEMM_BLOCK high and as
 * wide as all of these columns, since reads and writes that run ahead enter the rows of another thread at the
 * end of a column.
 */
static void run_few_rows(const struct layer *l, int threads)
{
    int64_t n = l->a->y.rows, m = l->a->y.cols;
    bool by_rows = small(l->a) && row_shares(n, threads) == threads;
    int64_t shares = by_rows ? threads : 1, cols = by_rows ? m : PANEL;
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
    for (int64_t s = 0; s < shares; s++)
        for (int64_t j = 0; j < m; j += cols) {
            float *packed = l->packed + (by_rows ? s * per_thread(l->a) : j * l->a->x.cols);
            int64_t first = row_share(n, s, shares), end = row_share(n, s + 1, shares);
            pack(l, j, min_of(cols, m - j), packed);
            for (int64_t i = first; i < end; i += GEMM_BLOCK)
                block(l, packed, i, min_of(GEMM_BLOCK, end - i), j, min_of(cols, m - j));
        }
}

/* Each thread has consecutive rows, as in the ops before and after: operands stay in its own cache. */
static void run_blocks(const struct layer *l, int threads)
{
    int64_t n = l->a->y.rows, m = l->a->y.cols;
#pragma omp parallel num_threads(threads)
    {
        if (!l->blas) {
#pragma omp for schedule(static)
            for (int64_t j = 0; j < m; j += GEMM_COLS)
                pack(l, j, min_of(GEMM_COLS, m - j), l->packed + j * l->a->x.cols);
        }
#pragma omp for collapse(2) schedule(static) nowait
        for (int64_t b = 0; b < l->grid.blocks; b++)
            for (int64_t j = 0; j < m; j += l->grid.cols) {
                int64_t i = gemm_grid_row(l->grid, n, b), end = gemm_grid_row(l->grid, n, b + 1);
                block(l, l->blas ? NULL : l->packed + j * l->a->x.cols, i, end - i, j,
                      min_of(l->grid.cols, m - j));
            }
    }
}

static void run(const struct linear_args *a, bool blas)
{
    struct layer l = layer_of(a, blas);
    int threads = threads_for(&a->call, a->y.rows * a->y.cols * a->x.cols, 1 << 15);
    if (!blas &&
        (small(a) ? mat_size(a->x) / row_shares(a->x.rows, threads) <= GEMM_FEW : a->x.rows <= FEW_ROWS))
        run_few_rows(&l, threads);
    else
        run_blocks(&l, threads);
}

void CPU(linear)(const void *args)
{
    run(args, false);
}

int64_t CPU(linear_scratch)(const void *args)
{
    const struct linear_args *a = args;
    return small(a) ? a->call.threads * per_thread(a) * 4
                    : float_bytes(gemm_packed_size(a->x.cols, a->y.cols));
}

#if HAVE_CBLAS
void CPU(linear_blas)(const void *args)
{
    run(args, true);
}
#endif
