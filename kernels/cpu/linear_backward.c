/*
 * Backward of the linear layer: dz = dy * act'(pre), dx (+)= dz w, dw (+)= dz' x, db (+)= column sums of dz.
 * dy: N x M, x: N x D, w: M x D. Variants as in linear.c.
 *
 * SLAB rows are processed at a time: dz is computed for them if there is an activation, and dw finds in cache
 * what dx has read. Tasks are blocks of dx and of dw and, if dw has too few blocks for many cores (tall
 * matrices of small width), parts of its sum over rows: each part has an accumulator, and the accumulators
 * are added in order. What is added in which order depends on the shape alone.
 *
 * If there are few rows and w is small, each thread has its share of them, also as a part of dw, and packs w
 * itself, as in linear.c.
 */
#include "kernels/cpu/activation.h"
#include "kernels/cpu/blas.h"

#include <omp.h>
#include <string.h>

enum {
    SLAB = 4096,
    DW_ROWS = 192,   /* of dw per task, at most */
    DW_LEAST = 64,   /* and at least, */
    DW_SHARES = 4,   /* but few enough that there are this many tasks */
    DW_COLS = 256,   /* of dw per task */
    DW_TASKS = 16,   /* enough parts for this many tasks, */
    PART_ROWS = 256, /* but none with fewer rows of dz and x, */
    PAIR_ROWS = 64,  /* except that two parts need no more than these if w is small */
};

struct layer {
    const struct linear_backward_args *a;
    bool blas;
    bool few;              /* rows, and w is small */
    struct gemm_grid grid; /* of dx */
    int parts;
    int64_t slab;                                   /* rows of dz at a time */
    int64_t dw_rows;                                /* of dw per task */
    float *dz, *packed, *accumulators, *workspaces; /* scratch */
    int64_t per_thread;                             /* floats of a thread */
    int64_t own;                                    /* floats of the w that a thread packs of few rows */
};

static int64_t dw_rows(const struct linear_backward_args *a)
{
    int64_t m = a->dy.cols, shares = min_of(DW_SHARES, blocks_of(m, DW_LEAST));
    return round_up(blocks_of(m, max_of(blocks_of(m, DW_ROWS), shares)), GEMM_ROWS);
}

static int64_t dw_blocks(const struct linear_backward_args *a)
{
    return blocks_of(a->dy.cols, dw_rows(a)) * blocks_of(a->x.cols, DW_COLS);
}

static int64_t sums(const struct linear_backward_args *a)
{
    return mat_size(a->w) + a->dy.cols;
}

/* Floats from the accumulator of a part to the next. */
static int64_t part_size(const struct linear_backward_args *a)
{
    return sums(a) + THREAD_GAP / (int64_t)sizeof(float);
}

/* Lays out the scratch buffer; `bytes` is its size. */
static struct layer layer_of(const struct linear_backward_args *a, bool blas, int64_t *bytes)
{
    struct layer l = {.a = a, .blas = blas, .dw_rows = dw_rows(a)};
    int64_t n = a->dy.rows, m = a->dy.cols;
    l.slab = blocks_of(n, blocks_of(n, SLAB));
    l.grid = gemm_grid(l.slab, a->x.cols, m, blas ? 192 : 96);
    bool small = !blas && mat_size(a->w) <= GEMM_SMALL;
    l.few = small && n <= l.slab && n * max_of(m, a->x.cols) / row_shares(n, a->call.threads) <= GEMM_FEW;
    l.own = blas ? 0 : (float_bytes(gemm_packed_size(m, a->x.cols)) + THREAD_GAP) / 4;
    l.parts = (int)max_of(small && n >= PAIR_ROWS ? 2 : 1,
                          min_of(blocks_of(DW_TASKS, dw_blocks(a)), l.slab / PART_ROWS));
    l.per_thread =
        blas ? 0 : round_up(gemm_outer_scratch(min_of(m, l.dw_rows), min_of(a->x.cols, DW_COLS)), 16);
    int64_t packed = l.few ? l.own * a->call.threads : blas ? 0 : gemm_packed_size(m, a->x.cols);
    int64_t sizes[] = {a->act ? l.slab * m : 0, packed, l.parts > 1 ? l.parts * part_size(a) : 0,
                       l.per_thread * a->call.threads};
    float **parts[] = {&l.dz, &l.packed, &l.accumulators, &l.workspaces};
    *bytes = 0;
    for (int i = 0; i < 4; i++) {
        *parts[i] = a->call.scratch ? (float *)((char *)a->call.scratch + *bytes) : NULL;
        *bytes += float_bytes(sizes[i]);
    }
    return l;
}

/* dz of the slab that begins at row `first`: computed, or dy itself. */
static struct mat slab_of(const struct layer *l, int64_t first)
{
    struct mat dz = l->a->dy;
    dz.rows = min_of(l->slab, dz.rows - first);
    dz.data = l->a->act ? l->dz : row_of(l->a->dy, first);
    dz.ld = l->a->act ? dz.cols : dz.ld;
    return dz;
}

/* dz = dy act'(pre) for one row. */
static inline __attribute__((always_inline)) void dz_row(int act, int64_t n, const float *restrict pre,
                                                         const float *restrict dy, float *restrict dz)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        dz[j] = activation_backward(act, pre[j], dy[j]);
}

static void activate_backward(int act, int64_t n, const float *pre, const float *dy, float *dz)
{
    switch (act) {
    case ACT_GELU:
        dz_row(ACT_GELU, n, pre, dy, dz);
        break;
    case ACT_GELU_TANH:
        dz_row(ACT_GELU_TANH, n, pre, dy, dz);
        break;
    case ACT_RELU:
        dz_row(ACT_RELU, n, pre, dy, dz);
        break;
    }
}

/* packed: of columns j .. of w. */
static void dx_block(const struct layer *l, struct mat dz, const float *packed, int64_t first, int64_t i,
                     int64_t rows, int64_t j, int64_t cols)
{
    const struct linear_backward_args *a = l->a;
    int64_t m = dz.cols;
    struct gemm_in in = gemm_in(row_of(dz, i), dz.ld);
    float *to = row_of(a->dx, first + i) + j;
    if (l->blas)
        blas_product(rows, cols, m, in, gemm_in(row_of(a->w, 0) + j, a->w.ld), to, a->dx.ld, a->dx.acc);
    else
        gemm_packed(rows, cols, m, in, packed, to, a->dx.ld, a->dx.acc);
}

static void pack(const struct layer *l, int64_t j, int64_t cols, float *packed)
{
    struct mat w = l->a->w;
    gemm_pack(w.rows, cols, gemm_in(row_of(w, 0) + j, w.ld), packed);
}

/* dx of few rows, as in linear.c. */
static void dx_shares(const struct layer *l, struct mat dz, int64_t shares)
{
    int64_t d = l->a->dx.cols;
    float *packed = l->packed + omp_get_thread_num() * l->own;
#pragma omp for schedule(static) nowait
    for (int64_t s = 0; s < shares; s++) {
        int64_t begin = row_share(dz.rows, s, shares), end = row_share(dz.rows, s + 1, shares);
        pack(l, 0, d, packed);
        for (int64_t i = begin; i < end; i += GEMM_BLOCK)
            dx_block(l, dz, packed, 0, i, min_of(GEMM_BLOCK, end - i), 0, d);
    }
}

static void dx_blocks(const struct layer *l, struct mat dz, int64_t first)
{
    int64_t d = l->a->dx.cols;
#pragma omp for collapse(2) schedule(static) nowait
    for (int64_t b = 0; b < l->grid.blocks; b++)
        for (int64_t j = 0; j < d; j += l->grid.cols) {
            int64_t i = gemm_grid_row(l->grid, dz.rows, b), end = gemm_grid_row(l->grid, dz.rows, b + 1);
            dx_block(l, dz, l->blas ? NULL : l->packed + j * dz.cols, first, i, end - i, j,
                     min_of(l->grid.cols, d - j));
        }
}

static void column_sums(struct mat m, float *to, bool acc)
{
    if (!acc)
        memset(to, 0, (size_t)m.cols * sizeof(float));
    for (int64_t i = 0; i < m.rows; i++) {
        const float *row = row_of(m, i);
#pragma omp simd
        for (int64_t j = 0; j < m.cols; j++)
            to[j] += row[j];
    }
}

/* One part of one block of dw, and of db for the first columns. */
static void dw_block(const struct layer *l, struct mat dz, int64_t first, int64_t i, int64_t j, int part,
                     float *work)
{
    const struct linear_backward_args *a = l->a;
    int64_t begin = row_share(dz.rows, part, l->parts), end = row_share(dz.rows, part + 1, l->parts);
    int64_t rows = min_of(l->dw_rows, dz.cols - i), cols = min_of(DW_COLS, a->x.cols - j);
    struct mat dw = a->dw, db = a->db;
    if (l->parts > 1) {
        dw = (struct mat){.data = l->accumulators + part * part_size(a), .ld = a->x.cols};
        db = (struct mat){.data = (float *)dw.data + mat_size(a->w)};
    }
    dw.acc = l->parts > 1 ? first > 0 : a->dw.acc || first > 0;
    db.acc = l->parts > 1 ? first > 0 : a->db.acc || first > 0;
    struct gemm_in left = gemm_transposed(row_of(dz, begin) + i, dz.ld);
    struct gemm_in right = gemm_in(row_of(a->x, first + begin) + j, a->x.ld);
    if (mat_present(a->dw) && l->blas)
        blas_product(rows, cols, end - begin, left, right, row_of(dw, i) + j, dw.ld, dw.acc);
    else if (mat_present(a->dw))
        gemm_outer(rows, cols, end - begin, left, right, row_of(dw, i) + j, dw.ld, dw.acc, work);
    if (mat_present(a->db) && j == 0) {
        struct mat columns = mat_cols(dz, i, rows);
        columns.data = row_of(columns, begin);
        columns.rows = end - begin;
        column_sums(columns, row_of(db, 0) + i, db.acc);
    }
}

/* Row i of dw, or db after the last row: the sum of the parts' accumulators. */
static void add_parts(const struct layer *l, int64_t i)
{
    const struct linear_backward_args *a = l->a;
    bool is_db = i == a->w.rows;
    struct mat out = is_db ? a->db : a->dw;
    if (mat_present(out))
        add_accumulators(out.cols, row_of(out, is_db ? 0 : i), out.acc, l->accumulators + i * a->x.cols,
                         l->parts, part_size(a));
}

static void run(const struct linear_backward_args *a, bool blas)
{
    int64_t bytes, n = a->dy.rows, m = a->dy.cols, d = a->x.cols;
    struct layer l = layer_of(a, blas, &bytes);
    bool dx = mat_present(a->dx), dw = mat_present(a->dw) || mat_present(a->db);
    int threads = threads_for(&a->call, n * m * d, 1 << 15);
    int64_t shares = row_shares(l.slab, threads);
    l.few = l.few && shares == threads;
#pragma omp parallel num_threads(threads)
    {
        float *work = l.workspaces + omp_get_thread_num() * l.per_thread;
        if (dx && !blas && !l.few) {
#pragma omp for schedule(static)
            for (int64_t j = 0; j < d; j += GEMM_COLS)
                pack(&l, j, min_of(GEMM_COLS, d - j), l.packed + j * m);
        }
        for (int64_t first = 0; first < n; first += l.slab) {
            struct mat dz = slab_of(&l, first);
            if (a->act) {
#pragma omp for schedule(static)
                for (int64_t s = 0; s < shares; s++)
                    for (int64_t i = row_share(dz.rows, s, shares); i < row_share(dz.rows, s + 1, shares);
                         i++)
                        activate_backward(a->act, m, row_of(a->pre, first + i), row_of(a->dy, first + i),
                                          row_of(dz, i));
            }
            if (dx && l.few)
                dx_shares(&l, dz, shares);
            else if (dx)
                dx_blocks(&l, dz, first);
            if (dw) {
#pragma omp for collapse(3) schedule(static) nowait
                for (int part = 0; part < l.parts; part++)
                    for (int64_t i = 0; i < m; i += l.dw_rows)
                        for (int64_t j = 0; j < d; j += DW_COLS)
                            dw_block(&l, dz, first, i, j, part, work);
            }
            if (first + l.slab < n || l.parts > 1) {
#pragma omp barrier
            }
        }
        if (dw && l.parts > 1) {
#pragma omp for schedule(static) nowait
            for (int64_t i = 0; i <= m; i++)
                add_parts(&l, i);
        }
    }
}

void CPU(linear_backward)(const void *args)
{
    run(args, false);
}

int64_t CPU(linear_backward_scratch)(const void *args)
{
    int64_t bytes;
    layer_of(args, false, &bytes);
    return bytes;
}

#if HAVE_CBLAS
void CPU(linear_backward_blas)(const void *args)
{
    run(args, true);
}

int64_t CPU(linear_backward_blas_scratch)(const void *args)
{
    int64_t bytes;
    layer_of(args, true, &bytes);
    return bytes;
}
#endif
