/*
 * Backward of the linear layer in BF16: dz = dy * act'(pre), dx (+)= dz w, dw (+)= dz' x, db (+)= column sums
 * of dz. dy: N x M, x: N x D, w: M x D; dw and db in F32.
 *
 * SLAB rows at a time: all threads compute dz, rounded, and pack it, as it is and transposed, and x; then
 * they have blocks of dx and of dw. What is added in which order depends on the shape alone.
 */
#include "kernels/cpu/activation.h"
#include "kernels/cpu/amx/tiles.h"

#include <string.h>

enum { SLAB = 512, TASKS = 32, STEP = 64 /* columns of a task, at least */ };

struct layer {
    const struct linear_backward_args *a;
    int64_t slab, m, d; /* rows at a time, and columns, rounded up to whole steps */
    int64_t cols;       /* of dx in a task */
    uint16_t *w, *dz, *dz_t, *x;
    float *sums; /* of each block of 32 rows of dz */
};

static struct layer layer_of(const struct linear_backward_args *a, int64_t *bytes)
{
    struct layer l = {.a = a, .m = round_up(a->dy.cols, SIDE), .d = round_up(a->x.cols, SIDE)};
    l.slab = min_of(SLAB, round_up(a->dy.rows, SIDE));
    l.cols = round_up(blocks_of(l.d, max_of(1, min_of(blocks_of(l.d, STEP), TASKS * SIDE / l.slab))), SIDE);
    float *parts[4];
    const struct scratch_part layout[] = {{&parts[0], l.m * l.d / 2},
                                          {&parts[1], l.slab * l.m / 2},
                                          {&parts[2], l.slab * l.m / 2},
                                          {&parts[3], l.slab * l.d / 2},
                                          {&l.sums, l.slab / SIDE * l.m}};
    *bytes = 4 * SCRATCH(a->call.scratch, layout);
    l.w = (uint16_t *)parts[0], l.dz = (uint16_t *)parts[1];
    l.dz_t = (uint16_t *)parts[2], l.x = (uint16_t *)parts[3];
    return l;
}

/* dz of a block, to rows of 32. */
INLINE void activate(int act, int64_t rows, int64_t cols, const uint16_t *restrict pre, int64_t pre_ld,
                     const uint16_t *restrict dy, int64_t ld, uint16_t *restrict dz)
{
    for (int64_t i = 0; i < rows; i++, pre += pre_ld, dy += ld, dz += SIDE) {
#pragma omp simd
        for (int64_t k = 0; k < cols; k++)
            dz[k] = bf16_of_float(activation_backward(act, float_of_bf16(pre[k]), float_of_bf16(dy[k])));
    }
}

/* Rows i .. and columns j .. of dz: in place, or computed. */
static struct mat dz_of(const struct linear_backward_args *a, int64_t i, int64_t j, uint16_t *to)
{
    struct mat dz = {.data = bf16_at(a->dy, i, j),
                     .rows = min_of(SIDE, a->dy.rows - i),
                     .cols = min_of(SIDE, a->dy.cols - j),
                     .ld = a->dy.ld};
    const uint16_t *dy = dz.data, *pre = a->act ? bf16_at(a->pre, i, j) : NULL;
    if (!a->act)
        return dz;
#define CASE(act)                                                                                            \
    case act:                                                                                                \
        if (dz.cols == SIDE)                                                                                 \
            activate(act, dz.rows, SIDE, pre, a->pre.ld, dy, dz.ld, to);                                     \
        else                                                                                                 \
            activate(act, dz.rows, dz.cols, pre, a->pre.ld, dy, dz.ld, to);                                  \
        break;
    switch (a->act) {
        CASE(ACT_GELU)
        CASE(ACT_GELU_TANH)
        CASE(ACT_RELU)
    }
    dz.data = to;
    dz.ld = SIDE;
    return dz;
}

static void sum_rows(struct mat m, float sum[SIDE])
{
    memset(sum, 0, SIDE * sizeof *sum);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum[k] += float_of_bf16(*bf16_at(m, i, k));
}

/* Packs rows i .. and columns j .. of dz, of the slab that begins at row `first`. */
static void pack_dz(const struct layer *l, int64_t first, int64_t i, int64_t j)
{
    _Alignas(64) uint16_t computed[PAIR], pairs[PAIR];
    struct mat dz = dz_of(l->a, first + i, j, computed);
    struct mat half = {.data = pairs, .rows = TILE, .cols = SIDE, .ld = SIDE}, other = half;
    uint16_t *to = l->dz + i * l->m + j * SIDE, *to_t = l->dz_t + j * l->slab + i * SIDE;
    if (mat_present(l->a->dx)) {
        tile_copy(dz, 0, 0, to);
        tile_copy(dz, TILE, 0, to + PAIR / 2);
    }
    if (mat_present(l->a->dw)) {
        other.data = pairs + PAIR / 2;
        tiles_pair(dz, 0, 0, pairs);
        tile_transpose(half, 0, 0, to_t);
        tile_transpose(other, 0, 0, to_t + PAIR / 2);
    }
    if (mat_present(l->a->db))
        sum_rows(dz, l->sums + i / SIDE * l->m + j);
}

/* Rows i .. of the slab and columns j .. of dx. */
static void dx_blocks(const struct layer *l, int64_t first, int64_t i, int64_t j)
{
    _Alignas(64) float c[PAIR];
    struct mat dx = l->a->dx;
    for (int64_t end = min_of(dx.cols, j + l->cols); j < end; j += SIDE) {
        tiles_product(l->m / SIDE, tiles_packed(l->dz + i * l->m), l->w + j * l->m, c, SIDE, false);
        tiles_round(min_of(SIDE, dx.rows - first - i), min_of(SIDE, dx.cols - j), c,
                    bf16_at(dx, first + i, j), dx.ld, dx.acc);
    }
}

/* Rows i .. and columns j .. of dw: of `rows` rows of dz. */
static void dw_block(const struct layer *l, int64_t rows, bool acc, int64_t i, int64_t j)
{
    _Alignas(64) float part[PAIR];
    struct mat dw = l->a->dw;
    bool whole = i + SIDE <= dw.rows && j + SIDE <= dw.cols;
    float *to = row_of(dw, i) + j;
    tiles_product(blocks_of(rows, SIDE), tiles_packed(l->dz_t + i * l->slab), l->x + j * l->slab,
                  whole ? to : part, whole ? dw.ld : SIDE, whole && acc);
    for (int64_t r = 0; r < min_of(SIDE, dw.rows - i) && !whole; r++)
        for (int64_t k = 0; k < min_of(SIDE, dw.cols - j); k++)
            to[r * dw.ld + k] = part[r * SIDE + k] + (acc ? to[r * dw.ld + k] : 0);
}

static void run_slab(const struct layer *l, int64_t first)
{
    const struct linear_backward_args *a = l->a;
    int64_t rows = min_of(l->slab, a->dy.rows - first), widest = max_of(l->m, l->d);
#pragma omp for collapse(2) schedule(static)
    for (int64_t i = 0; i < rows; i += SIDE)
        for (int64_t j = 0; j < widest; j += SIDE) {
            if (j < l->m)
                pack_dz(l, first, i, j);
            if (j < l->d && mat_present(a->dw))
                tiles_pair(a->x, first + i, j, l->x + j * l->slab + i * SIDE);
        }
    if (mat_present(a->dx)) {
#pragma omp for collapse(2) schedule(static) nowait
        for (int64_t i = 0; i < rows; i += SIDE)
            for (int64_t j = 0; j < a->dx.cols; j += l->cols)
                dx_blocks(l, first, i, j);
    }
    if (mat_present(a->dw)) {
#pragma omp for collapse(2) schedule(static) nowait
        for (int64_t i = 0; i < l->m; i += SIDE)
            for (int64_t j = 0; j < l->d; j += SIDE)
                dw_block(l, rows, a->dw.acc || first > 0, i, j);
    }
    if (mat_present(a->db)) {
#pragma omp for schedule(static) nowait
        for (int64_t j = 0; j < a->db.cols; j += SIDE)
            add_accumulators(min_of(SIDE, a->db.cols - j), row_of(a->db, 0) + j, a->db.acc || first > 0,
                             l->sums + j, blocks_of(rows, SIDE), l->m);
    }
}

void CPU(linear_backward)(const void *args)
{
    const struct linear_backward_args *a = args;
    int64_t bytes, n = a->dy.rows;
    struct layer l = layer_of(a, &bytes);
#pragma omp parallel num_threads(threads_for(&a->call, n *l.m *l.d, 1 << 17))
    {
        tiles_begin();
        if (mat_present(a->dx)) {
#pragma omp for collapse(2) schedule(static) nowait
            for (int64_t j = 0; j < l.d; j += SIDE)
                for (int64_t k = 0; k < l.m; k += SIDE)
                    tiles_pair(a->w, k, j, l.w + j * l.m + k * SIDE);
        }
        for (int64_t first = 0; first < n; first += l.slab) {
            run_slab(&l, first);
            if (first + l.slab < n) {
#pragma omp barrier
            }
        }
        tiles_end();
    }
}

int64_t CPU(linear_backward_scratch)(const void *args)
{
    int64_t bytes;
    layer_of(args, &bytes);
    return bytes;
}
