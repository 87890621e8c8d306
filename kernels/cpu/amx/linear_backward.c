/*
 * Backward of the linear layer in BF16: dz = dy * act'(pre), dx (+)= dz w, dw (+)= dz' x, db (+)= column sums
 * of dz. dy: N x M, x: N x D, w: M x D; dw and db in F32.
 *
 * SLAB rows at a time: all threads compute dz, rounded, and pack it, as it is and transposed, and x; then
 * they have blocks of dx and of dw. What is added in which order depends on the shape alone.
 */
#include "kernels/cpu/amx/tiles.h"

#include <string.h>

enum { SLAB = 512 };

struct layer {
    const struct linear_backward_args *a;
    int64_t slab, m, d; /* rows at a time, and columns, rounded up to whole steps */
    uint16_t *w, *dz, *dz_t, *x;
    float *sums; /* of each block of 32 rows of dz */
    int64_t bytes;
};

static struct layer layer_of(const struct linear_backward_args *a)
{
    struct layer l = {.a = a, .m = round_up(a->dy.cols, SIDE), .d = round_up(a->x.cols, SIDE)};
    l.slab = min_of(SLAB, round_up(a->dy.rows, SIDE));
    float *w, *dz, *dz_t, *x;
    const struct scratch_part parts[] = {{&w, l.m * l.d / 2},
                                         {&dz, l.slab * l.m / 2},
                                         {&dz_t, l.slab * l.m / 2},
                                         {&x, l.slab * l.d / 2},
                                         {&l.sums, l.slab / SIDE * l.m}};
    l.bytes = 4 * SCRATCH(a->call.scratch, parts);
    l.w = (uint16_t *)w, l.dz = (uint16_t *)dz, l.dz_t = (uint16_t *)dz_t, l.x = (uint16_t *)x;
    return l;
}

/* m = dz, from row i and column j on, if there is an activation; and its sums over rows, before it is
 * rounded. */
INLINE void activate(int64_t cols, int act, const struct linear_backward_args *a, int64_t i, int64_t j,
                     struct mat m, float *restrict sum)
{
    memset(sum, 0, SIDE * sizeof *sum);
    for (int64_t r = 0; r < m.rows; r++) {
        const uint16_t *dy = bf16_at(a->dy, i + r, j), *pre = act ? bf16_at(a->pre, i + r, j) : dy;
        uint16_t *dz = bf16_at(m, r, 0);
#pragma omp simd
        for (int64_t k = 0; k < cols; k++) {
            float z = activation_backward(act, float_of_bf16(pre[k]), float_of_bf16(dy[k]));
            sum[k] += z;
            if (act)
                dz[k] = bf16_of_float(z);
        }
    }
}

/* Packs rows i .. and columns j .. of dz, of the slab that begins at row `first`. */
static void pack_dz(const struct layer *l, int64_t first, int64_t i, int64_t j)
{
    _Alignas(64) uint16_t computed[PAIR], pairs[PAIR];
    const struct linear_backward_args *a = l->a;
    struct mat dz = a->dy, pair = {.data = pairs, .rows = SIDE, .cols = SIDE, .ld = SIDE};
    dz.rows = min_of(SIDE, a->dy.rows - first - i);
    dz.cols = min_of(SIDE, a->dy.cols - j);
    dz.data = a->act ? computed : bf16_at(a->dy, first + i, j);
    dz.ld = a->act ? SIDE : dz.ld;
    BY_ACTIVATION(activate, a->act, dz.cols, a, first + i, j, dz, l->sums + i / SIDE * l->m + j);
    if (mat_present(a->dx))
        tiles_copy(dz, 0, 0, l->dz + i * l->m + j * SIDE);
    if (mat_present(a->dw)) {
        uint16_t *to = l->dz_t + j * l->slab + i * SIDE;
        tiles_pair(dz, 0, 0, pairs);
        tile_transpose(pair, 0, 0, to);
        tile_transpose(pair, TILE, 0, to + PAIR / 2);
    }
}

/* Rows i .. and columns j .. of dx (+)= c, rounded. */
INLINE void round_block(int64_t cols, struct mat dx, int64_t i, int64_t j, const float *c)
{
    for (int64_t r = 0; r < min_of(SIDE, dx.rows - i); r++, c += SIDE) {
        uint16_t *to = bf16_at(dx, i + r, j);
#pragma omp simd
        for (int64_t k = 0; k < cols; k++)
            to[k] = bf16_of_float(c[k] + (dx.acc ? float_of_bf16(to[k]) : 0));
    }
}

/* Rows i .. of the slab and columns j .. of dx. */
static void dx_block(const struct layer *l, int64_t first, int64_t i, int64_t j)
{
    _Alignas(64) float c[PAIR];
    struct mat dx = l->a->dx;
    tiles_product(l->m / SIDE, tiles_packed(l->dz + i * l->m), l->w + j * l->m, c, SIDE, false);
    BY_WIDTH(round_block, min_of(SIDE, dx.cols - j), dx, first + i, j, c);
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
        add_accumulators(min_of(SIDE, dw.cols - j), to + r * dw.ld, acc, part + r * SIDE, 1, 0);
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
            for (int64_t j = 0; j < l->d; j += SIDE)
                dx_block(l, first, i, j);
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
    int64_t n = a->dy.rows;
    struct layer l = layer_of(a);
    int threads = threads_for(&a->call, n * l.m * l.d, 1 << 17);
#pragma omp parallel num_threads(threads)
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
    return layer_of(args).bytes;
}
