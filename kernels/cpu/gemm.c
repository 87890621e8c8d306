/*
 * The register tile, packing, and the surrounding loops; see gemm.h for the method.
 *
 * Vectors are the compilers' generic vector types, compiled to each instruction set's own.
 */
#include "kernels/cpu/gemm.h"

#include <string.h>

#define MR    GEMM_ROWS
#define NR    GEMM_COLS
#define LANES GEMM_LANES

typedef vm_vec vec;
typedef vm_four vec4;

#if defined(__aarch64__) && !defined(__clang__) /* gcc would load ahead, and spill sums for it */
#define NOINLINE static __attribute__((noinline, optimize("no-schedule-insns")))
#else
#define NOINLINE static __attribute__((noinline))
#endif
#ifdef ROLLED /* by the Makefile, for sanitizers */
#define UNROLL
#elif defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/*
 * Steps of k in the body of a tile's loop. While its other hyperthread is busy, a core has about half its
 * instructions per cycle for this one: with AVX2, fewer than keep the multiply-adds of a loop of one step
 * busy. Wider vectors need fewer of all.
 */
#if defined(__FMA__) && !defined(__AVX512F__) && !defined(ROLLED)
#define UNROLLED 4
#else
#define UNROLLED 1
#endif

/*
 * sum + s * line. gcc may add to a register of a factor instead, and then copies and spills sums, of which a
 * tile has as many as fit.
 */
INLINE vec multiply_add(vec sum, vec s, vec line)
{
#if UNROLLED > 1
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(s), "x"(line));
    return sum;
#else
    return sum + s * line;
#endif
}

/* The destination of a tile of C, of which `rows` and `cols` exist. */
struct tile_out {
    float *c;
    int64_t ldc;
    int rows, cols;
    bool acc;
    const float *ahead; /* what follows in B: prefetched, `pace` floats per step of k */
    int64_t pace;
    struct gemm_end end;
};

static void store_partial(const float *from, struct tile_out o)
{
    for (int i = 0; i < o.rows; i++)
        for (int j = 0; j < o.cols; j++) {
            float *c = o.c + i * o.ldc + j;
            *c = from[i * NR + j] + (o.acc ? *c : 0);
        }
}

INLINE void tile_store(int vectors, int height, vec sum[MR][GEMM_VECTORS], struct tile_out o)
{
    float whole[MR * NR];
    struct tile_out to = o;
    bool partial = o.rows < height || o.cols < vectors * LANES;
    if (partial)
        to = (struct tile_out){.c = whole, .ldc = NR};
    UNROLL
    for (int i = 0; i < height; i++)
        UNROLL
    for (int v = 0; v < vectors; v++) {
        vec *c = (vec *)(to.c + i * to.ldc + v * LANES);
        if (to.acc)
            sum[i][v] += *c;
        *c = sum[i][v];
    }
    if (partial)
        store_partial(whole, o);
}

/* -1 in the first `count` lanes. */
INLINE vm_ints lanes_below(int count)
{
    static const int32_t ones[2 * LANES] = {[0 ... LANES - 1] = -1};
    return *(const vm_ints *)(ones + LANES - count);
}

/* The smaller one; NaN if x is. */
INLINE vec at_most(vec x, float most)
{
#ifdef __AVX512F__
    return (vec)_mm512_min_ps(_mm512_set1_ps(most), (__m512)x);
#else
    vm_ints high = x > most;
    return (vec)(((vm_ints)x & ~high) | ((vm_ints)((vec){0} + most) & high));
#endif
}

/* Stores the whole tile; nonexistent columns have weight 0. */
INLINE void tile_end(int vectors, int height, enum gemm_kind kind, vec sum[MR][GEMM_VECTORS],
                     struct tile_out o)
{
    vm_ints exist = lanes_below(o.cols - (vectors - 1) * LANES);
    UNROLL
    for (int i = 0; i < height; i++) {
        vec total;
        UNROLL
        for (int v = 0; v < vectors; v++) {
            int64_t at = i * o.ldc + v * LANES;
            vec x = sum[i][v];
            if (kind == GEMM_BIASED)
                x += *(const vec *)(o.end.p + at) * VM_LOG2E;
            if (kind != GEMM_WEIGHTS)
                x -= o.end.shift[i];
            if (kind == GEMM_PROBABILITIES)
                x = at_most(x, 0);
            if (kind == GEMM_BIASED && LANES < 16) /* with AVX-512, powers are infinite rather than wrong */
                x = at_most(x, 60);
            if (kind == GEMM_GRADIENTS)
                x *= *(const vec *)(o.end.p + at);
            else
                x = kind == GEMM_WEIGHTS ? vm_exp2_normal(x) : vm_exp2(x);
            if (kind == GEMM_WEIGHTS && v == vectors - 1)
                x = (vec)((vm_ints)x & exist);
            if (v > 0)
                total += x;
            else
                total = x;
            *(vec *)(o.c + at) = x;
        }
        if (kind == GEMM_WEIGHTS || (kind == GEMM_BIASED && o.end.sums))
            *(vec *)(o.end.sums + i * LANES) += total;
        if ((kind == GEMM_BIASED || kind == GEMM_GRADIENTS) && o.end.ahead) {
            UNROLL
            for (int v = 0; v < vectors; v += 16 / LANES)
                __builtin_prefetch(o.end.ahead + i * o.end.apart + v * LANES, 0, 2);
        }
    }
}

/*
 * How a tile reads A: along its rows, along its columns, or (at the lower edge) with the last row repeated.
 */
enum reads { BY_ROWS, BY_COLUMNS, BY_EDGE };

INLINE float element(enum reads reads, struct gemm_in a, const float *const row[MR], int i, int64_t p)
{
    return reads == BY_COLUMNS ? a.at[p * a.col + i] : row[i][reads == BY_ROWS ? p : p * a.col];
}

/* Step p of k: `b` is its line of the packed B. */
INLINE void tile_step(int vectors, int height, enum reads reads, struct gemm_in a, const float *const row[MR],
                      int64_t p, const float *b, vec sum[MR][GEMM_VECTORS])
{
    vec line[GEMM_VECTORS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        line[v] = *(const vec *)(b + v * LANES);
    UNROLL
    for (int i = 0; i < height; i++) {
        vec s = element(reads, a, row, i, p) - (vec){0}; /* in all lanes */
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = multiply_add(sum[i][v], s, line[v]);
    }
}

/*
 * One tile of `height` rows; all but k (a multiple of `unrolled`), a, b and o are compile-time constants
 * after inlining.
 */
INLINE void tile(int vectors, int height, int unrolled, enum gemm_kind kind, enum reads reads, int64_t k,
                 struct gemm_in a, const float *b, struct tile_out o)
{
    vec sum[MR][GEMM_VECTORS];
    const float *row[MR];
    UNROLL
    for (int i = 0; i < height; i++) {
        row[i] = a.at + (i < o.rows ? i : o.rows - 1) * a.row;
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = (vec){0};
    }
    for (int64_t p = 0; p < k; p += unrolled) {
        UNROLL
        for (int q = 0; q < unrolled; q++, b += vectors * LANES) {
            if (kind == GEMM_STORE && q % 2 == 0)
                __builtin_prefetch(o.ahead + (p + q) * o.pace, 0, 2);
            tile_step(vectors, height, reads, a, row, p + q, b, sum);
        }
    }
    if (kind == GEMM_STORE)
        tile_store(vectors, height, sum, o);
    else
        tile_end(vectors, height, kind, sum, o);
}

/*
 * A column of tiles: all rows of C for one panel of B. Tiles of A are `step` floats apart; the last has half
 * the height if that suffices. Each tile prefetches its share of the panel that follows in B to the
 * second-level cache, in every other step of an unrolled loop: the first tile of a panel would wait for the
 * third level otherwise.
 */
INLINE void panel(int vectors, int unrolled, enum gemm_kind kind, int64_t m, int64_t k, struct gemm_in a,
                  int64_t step, const float *b, struct tile_out o)
{
    int64_t tiles = blocks_of(m, MR);
    o.pace = max_of(1, vectors * LANES / tiles);
    o.ahead = b + k * vectors * LANES;
    for (int64_t i = 0; i < m; i += MR, a.at += step, o.c += MR * o.ldc, o.ahead += k * o.pace) {
        o.rows = (int)min_of(MR, m - i);
        if (o.rows <= MR / 2)
            tile(vectors, MR / 2, unrolled, kind, BY_EDGE, k, a, b, o);
        else if (o.rows < MR)
            tile(vectors, MR, unrolled, kind, BY_EDGE, k, a, b, o);
        else if (a.col == 1)
            tile(vectors, MR, unrolled, kind, BY_ROWS, k, a, b, o);
        else
            tile(vectors, MR, unrolled, kind, BY_COLUMNS, k, a, b, o);
        if (o.end.shift)
            o.end.shift += MR;
        if (o.end.sums)
            o.end.sums += MR * LANES;
        if (kind == GEMM_GRADIENTS || kind == GEMM_BIASED)
            o.end.p += MR * o.ldc;
        if (o.end.ahead)
            o.end.ahead += MR * o.end.apart;
    }
}

INLINE void panel_of_width(int unrolled, enum gemm_kind kind, int64_t m, int64_t k, struct gemm_in a,
                           int64_t step, const float *b, struct tile_out o)
{
    switch (blocks_of(o.cols, LANES)) {
    case 1:
        panel(1, unrolled, kind, m, k, a, step, b, o);
        break;
    case 2:
        panel(2, unrolled, kind, m, k, a, step, b, o);
        break;
#if GEMM_VECTORS > 2
    case 3:
        panel(3, unrolled, kind, m, k, a, step, b, o);
        break;
    case 4:
        panel(4, unrolled, kind, m, k, a, step, b, o);
        break;
#endif
    }
}

/* Two loops in one tile would make gcc move its sums between them. */
INLINE void panel_of_depth(enum gemm_kind kind, int64_t m, int64_t k, struct gemm_in a, int64_t step,
                           const float *b, struct tile_out o)
{
    if (k % UNROLLED == 0)
        panel_of_width(UNROLLED, kind, m, k, a, step, b, o);
    else
        panel_of_width(1, kind, m, k, a, step, b, o);
}

/* One function per kind, so that the constants of one do not occupy registers in another. */
NOINLINE void panel_store(int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                          struct tile_out o)
{
    panel_of_depth(GEMM_STORE, m, k, a, step, b, o);
}

NOINLINE void panel_weights(int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                            struct tile_out o)
{
    panel_of_depth(GEMM_WEIGHTS, m, k, a, step, b, o);
}

NOINLINE void panel_probabilities(int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                                  struct tile_out o)
{
    panel_of_depth(GEMM_PROBABILITIES, m, k, a, step, b, o);
}

NOINLINE void panel_gradients(int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                              struct tile_out o)
{
    panel_of_depth(GEMM_GRADIENTS, m, k, a, step, b, o);
}

NOINLINE void panel_biased(int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                           struct tile_out o)
{
    panel_of_depth(GEMM_BIASED, m, k, a, step, b, o);
}

static void panel_of_kind(int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                          struct tile_out o)
{
    switch (o.end.kind) {
    case GEMM_STORE:
        panel_store(m, k, a, step, b, o);
        break;
    case GEMM_WEIGHTS:
        panel_weights(m, k, a, step, b, o);
        break;
    case GEMM_PROBABILITIES:
        panel_probabilities(m, k, a, step, b, o);
        break;
    case GEMM_GRADIENTS:
        panel_gradients(m, k, a, step, b, o);
        break;
    case GEMM_BIASED:
        panel_biased(m, k, a, step, b, o);
        break;
    }
}

/* Panels are processed `depth` steps of k at a time. */
static void product(int64_t m, int64_t n, int64_t k, int64_t depth, struct gemm_in a, const float *packed,
                    struct tile_out o)
{
    bool acc = o.acc;
    for (int64_t j = 0; j < n; j += NR, o.c += NR) {
        o.cols = (int)min_of(NR, n - j);
        int64_t width = round_up(o.cols, LANES);
        for (int64_t p = 0; p < k; p += depth) {
            struct gemm_in ap = {a.at + p * a.col, a.row, a.col};
            o.acc = acc || p > 0;
            panel_of_kind(m, min_of(depth, k - p), ap, MR * a.row, packed + j * k + p * width, o);
        }
        if (o.end.p)
            o.end.p += NR;
        if (o.end.ahead)
            o.end.ahead += NR;
    }
}

/* The part of a panel that a tile reads fits in the first-level cache. */
void gemm_packed(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c,
                 int64_t ldc, bool acc)
{
    product(m, n, k, GEMM_DEPTH, a, packed, (struct tile_out){.c = c, .ldc = ldc, .acc = acc});
}

void gemm_fused(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c, int64_t ldc,
                struct gemm_end end)
{
    product(m, n, k, k, a, packed, (struct tile_out){.c = c, .ldc = ldc, .end = end});
}

/* to[p][0 .. 3] = four rows' element p, for p < k. */
static void transpose4(int64_t k, const float *const row[4], float *to, int64_t width)
{
    int64_t p = 0;
    for (; p + 4 <= k; p += 4, to += 4 * width) {
        vec4 a = *(const vec4 *)(row[0] + p), b = *(const vec4 *)(row[1] + p);
        vec4 c = *(const vec4 *)(row[2] + p), d = *(const vec4 *)(row[3] + p);
        vec4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        vec4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        *(vec4 *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        *(vec4 *)(to + width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        *(vec4 *)(to + 2 * width) = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
        *(vec4 *)(to + 3 * width) = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
    }
    for (; p < k; p++, to += width)
        for (int j = 0; j < 4; j++)
            to[j] = row[j][p];
}

/*
 * Packs a panel of `width` columns, of which `cols` exist; the others are copies of the last. One cache line
 * of each column at a time, so that source and destination stay in the first-level cache; in this order the
 * hardware does not prefetch.
 */
static void pack_transposed(int64_t k, int64_t cols, int64_t width, struct gemm_in b, float *to)
{
    enum { LINE = 16 /* floats */, AHEAD = 4 * LINE };
    for (int64_t p = 0; p < k; p += LINE)
        for (int64_t j = 0; j < width; j += 4) {
            const float *row[4];
            for (int i = 0; i < 4; i++) {
                row[i] = b.at + min_of(j + i, cols - 1) * b.col + p;
                __builtin_prefetch(row[i] + AHEAD);
            }
            transpose4(min_of(LINE, k - p), row, to + p * width + j, width);
        }
}

/* The same, but the missing columns are zero. */
static void pack_lines(int64_t k, int64_t cols, int64_t width, struct gemm_in b, float *to)
{
    for (int64_t p = 0; p < k; p++, to += width, b.at += b.row) {
        int64_t j = 0;
        for (; j + LANES <= cols; j += LANES)
            *(vec *)(to + j) = *(const vec *)(b.at + j);
        for (; j < width; j++)
            to[j] = j < cols ? b.at[j] : 0;
    }
}

void gemm_pack(int64_t k, int64_t n, struct gemm_in b, float *packed)
{
    for (int64_t j = 0; j < n; j += NR, b.at += NR * b.col, packed += NR * k) {
        int64_t cols = min_of(NR, n - j);
        if (b.row == 1)
            pack_transposed(k, cols, round_up(cols, LANES), b, packed);
        else
            pack_lines(k, cols, round_up(cols, LANES), b, packed);
    }
}

/*
 * A (m x k) in tiles of MR rows, each of length k, as BY_COLUMNS reads them; rows beyond the last are zero.
 */
static void pack_rows(int64_t m, int64_t k, struct gemm_in a, float *to)
{
    for (int64_t i = 0; i < m; i += MR)
        for (int64_t p = 0; p < k; p++, to += MR) {
            const float *from = a.at + i * a.row + p * a.col;
            if (a.row == 1 && i + MR <= m)
                memcpy(to, from, MR * sizeof(float));
            else
                for (int64_t r = 0; r < MR; r++)
                    to[r] = i + r < m ? from[r * a.row] : 0;
        }
}

void gemm_outer(int64_t m, int64_t n, int64_t k, struct gemm_in a, struct gemm_in b, float *c, int64_t ldc,
                bool acc, float *scratch)
{
    float *packed = scratch + GEMM_DEPTH * round_up(m, MR);
    for (int64_t p = 0; p < k; p += GEMM_DEPTH) {
        int64_t depth = min_of(GEMM_DEPTH, k - p);
        pack_rows(m, depth, (struct gemm_in){a.at + p * a.col, a.row, a.col}, scratch);
        gemm_pack(depth, n, (struct gemm_in){b.at + p * b.row, b.row, b.col}, packed);
        for (int64_t j = 0; j < n; j += NR) {
            int cols = (int)min_of(NR, n - j);
            struct tile_out o = {.c = c + j, .ldc = ldc, .cols = cols, .acc = acc || p > 0};
            panel_store(m, depth, (struct gemm_in){scratch, 1, MR}, depth * MR, packed + j * depth, o);
        }
    }
}
