/*
 * Linear layer in BF16: z = x w' + b, y = act(z), pre = z. x: N x D, w: M x D, b: 1 x M, y and pre: N x M.
 *
 * All threads pack w, and then each has consecutive blocks of 32 rows: those of x are read in place where
 * tiles can be loaded from there. Sums, bias and activation are in F32; what is stored is rounded once.
 */
#include "kernels/cpu/amx/tiles.h"

#include <omp.h>

struct layer {
    const struct linear_args *a;
    uint16_t *packed, *copies;
    int64_t depth, per_thread, bytes;
};

static struct layer layer_of(const struct linear_args *a)
{
    struct layer l = {.a = a, .depth = round_up(a->x.cols, SIDE)};
    float *packed, *copies;
    l.per_thread = SIDE * l.depth + THREAD_GAP / 2;
    const struct scratch_part parts[] = {{&packed, round_up(a->y.cols, SIDE) * l.depth / 2},
                                         {&copies, l.per_thread * a->call.threads / 2}};
    l.bytes = 4 * SCRATCH(a->call.scratch, parts);
    l.packed = (uint16_t *)packed, l.copies = (uint16_t *)copies;
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
    for (int64_t k = 0; k < l->depth; k += SIDE)
        tiles_copy(x, i, k, copy + k * SIDE);
    return tiles_packed(copy);
}

/* Rows i .. and columns j .. of y, of z. */
INLINE void finish(int64_t cols, int act, const struct linear_args *a, int64_t i, int64_t j, const float *z)
{
    float b[SIDE] = {0};
    int64_t rows = min_of(SIDE, a->y.rows - i);
    for (int64_t k = 0; k < cols && mat_present(a->b); k++)
        b[k] = float_of_bf16(*bf16_at(a->b, 0, j + k));
    for (int64_t r = 0; r < rows; r++, z += SIDE) {
        uint16_t *y = bf16_at(a->y, i + r, j), *pre = mat_present(a->pre) ? bf16_at(a->pre, i + r, j) : NULL;
#pragma omp simd
        for (int64_t k = 0; k < cols; k++) {
            float x = z[k] + b[k];
            if (pre)
                pre[k] = bf16_of_float(x);
            y[k] = bf16_of_float(activation(act, x));
        }
    }
}

void CPU(linear)(const void *args)
{
    const struct linear_args *a = args;
    int64_t n = a->y.rows, m = a->y.cols;
    struct layer l = layer_of(a);
    int threads = threads_for(&a->call, n * m * l.depth, 1 << 18);
#pragma omp parallel num_threads(threads)
    {
        _Alignas(64) float z[PAIR];
        struct tiles x;
        int64_t at = -1; /* the row of x */
        tiles_begin();
#pragma omp for schedule(static)
        for (int64_t j = 0; j < m; j += SIDE)
            pack(&l, j);
#pragma omp for collapse(2) schedule(static) nowait
        for (int64_t i = 0; i < n; i += SIDE)
            for (int64_t j = 0; j < m; j += SIDE) {
                if (at != i)
                    x = left_of(&l, at = i, l.copies + omp_get_thread_num() * l.per_thread);
                tiles_product(l.depth / SIDE, x, l.packed + j * l.depth, z, SIDE, false);
                BY_ACTIVATION(finish, a->act, min_of(SIDE, m - j), a, i, j, z);
            }
        tiles_end();
    }
}

int64_t CPU(linear_scratch)(const void *args)
{
    return layer_of(args).bytes;
}
