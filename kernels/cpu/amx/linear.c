/*
 * Linear layer in BF16: z = x w' + b, y = act(z), pre = z. x: N x D, w: M x D, b: 1 x M, y and pre: N x M.
 *
 * All threads pack w, and then each has consecutive blocks of 32 rows: those of x are read in place where
 * tiles can be loaded from there. Sums, bias and activation are in F32; what is stored is rounded once.
 */
#include "kernels/cpu/activation.h"
#include "kernels/cpu/amx/tiles.h"

#include <omp.h>

enum { TASKS = 32, STEP = 64 /* columns of a task, at least */ };

struct layer {
    const struct linear_args *a;
    uint16_t *packed, *copies;
    int64_t depth, per_thread, cols; /* of a task */
};

static struct layer layer_of(const struct linear_args *a, int64_t *bytes)
{
    int64_t n = a->x.rows, m = a->y.cols;
    struct layer l = {.a = a, .depth = round_up(a->x.cols, SIDE)};
    l.cols = round_up(blocks_of(m, max_of(1, min_of(blocks_of(m, STEP), TASKS / blocks_of(n, SIDE)))), SIDE);
    l.per_thread = SIDE * l.depth + THREAD_GAP / 2;
    l.packed = a->call.scratch;
    l.copies = (uint16_t *)((uintptr_t)a->call.scratch + 2 * (uintptr_t)tiles_size(m, l.depth));
    *bytes = 2 * (tiles_size(m, l.depth) + l.per_thread * a->call.threads);
    return l;
}

/* Columns j .. of w'. */
static void pack(const struct layer *l, int64_t j)
{
    uint16_t *to = l->packed + j * l->depth;
    for (int64_t k = 0; k < l->depth; k += SIDE, to += PAIR) {
        tile_transpose(l->a->w, j, k, to);
        tile_transpose(l->a->w, j + TILE, k, to + PAIR / 2);
    }
}

/* 32 rows of x from row i on. */
static struct tiles left_of(const struct layer *l, int64_t i, uint16_t *copy)
{
    struct mat x = l->a->x;
    if (i + SIDE <= x.rows && (x.cols | x.ld) % SIDE == 0 && (uintptr_t)x.data % 64 == 0)
        return (struct tiles){bf16_at(x, i, 0), x.ld, TILE * x.ld, SIDE};
    for (int64_t k = 0; k < l->depth; k += SIDE) {
        tile_copy(x, i, k, copy + k * SIDE);
        tile_copy(x, i + TILE, k, copy + k * SIDE + PAIR / 2);
    }
    return tiles_packed(copy);
}

/* pre = z + b and y = act(z + b) of a block; z: rows of 32. */
INLINE void finish(int act, int64_t rows, int64_t cols, const float *restrict z, const float *restrict b,
                   uint16_t *restrict pre, int64_t pre_ld, uint16_t *restrict y, int64_t ld)
{
    for (int64_t i = 0; i < rows; i++, z += SIDE, pre += pre ? pre_ld : 0, y += ld) {
#pragma omp simd
        for (int64_t k = 0; k < cols; k++) {
            float x = z[k] + b[k];
            if (pre)
                pre[k] = bf16_of_float(x);
            y[k] = bf16_of_float(activation(act, x));
        }
    }
}

/* Rows i .. and columns j .. of y, of z. */
static void finish_block(const struct linear_args *a, int64_t i, int64_t j, const float *z)
{
    float b[SIDE] = {0};
    int64_t rows = min_of(SIDE, a->y.rows - i), cols = min_of(SIDE, a->y.cols - j);
    for (int64_t k = 0; k < cols && mat_present(a->b); k++)
        b[k] = float_of_bf16(*bf16_at(a->b, 0, j + k));
    uint16_t *pre = mat_present(a->pre) ? bf16_at(a->pre, i, j) : NULL, *y = bf16_at(a->y, i, j);
#define CASE(act)                                                                                            \
    case act:                                                                                                \
        if (cols == SIDE && pre)                                                                             \
            finish(act, rows, SIDE, z, b, pre, a->pre.ld, y, a->y.ld);                                       \
        else if (cols == SIDE)                                                                               \
            finish(act, rows, SIDE, z, b, NULL, 0, y, a->y.ld);                                              \
        else                                                                                                 \
            finish(act, rows, cols, z, b, pre, a->pre.ld, y, a->y.ld);                                       \
        break;
    switch (a->act) {
        CASE(ACT_NONE)
        CASE(ACT_GELU)
        CASE(ACT_GELU_TANH)
        CASE(ACT_RELU)
    }
}

static void block(const struct layer *l, int64_t i, int64_t j)
{
    _Alignas(64) float z[PAIR];
    struct tiles x = left_of(l, i, l->copies + omp_get_thread_num() * l->per_thread);
    for (int64_t end = min_of(l->a->y.cols, j + l->cols); j < end; j += SIDE) {
        tiles_product(l->depth / SIDE, x, l->packed + j * l->depth, z, SIDE, false);
        finish_block(l->a, i, j, z);
    }
}

void CPU(linear)(const void *args)
{
    const struct linear_args *a = args;
    int64_t bytes, n = a->y.rows, m = a->y.cols;
    struct layer l = layer_of(a, &bytes);
#pragma omp parallel num_threads(threads_for(&a->call, n *m *l.depth, 1 << 18))
    {
        tiles_begin();
#pragma omp for schedule(static)
        for (int64_t j = 0; j < m; j += SIDE)
            pack(&l, j);
#pragma omp for collapse(2) schedule(static) nowait
        for (int64_t i = 0; i < n; i += SIDE)
            for (int64_t j = 0; j < m; j += l.cols)
                block(&l, i, j);
        tiles_end();
    }
}

int64_t CPU(linear_scratch)(const void *args)
{
    int64_t bytes;
    layer_of(args, &bytes);
    return bytes;
}
