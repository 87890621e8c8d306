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

/* The destination of a tile of C, of which `cols` columns exist. */
struct tile_out {
    float *c;
    int64_t ldc;
    int cols;
    bool acc;
    const float *bias;  /* added to every row; null: none */
    const float *ahead; /* what follows in B: prefetched, `pace` floats per step of k */
    int64_t pace;
    struct gemm_end end;
};

/* Moves on to the rows below. */
INLINE void move_down(int64_t rows, struct tile_out *o)
{
    o->c += rows * o->ldc;
    if (o->end.shift)
        o->end.shift += rows;
    if (o->end.sums)
        o->end.sums += rows * LANES;
    if (o->end.p)
        o->end.p += rows * o->ldc;
    if (o->end.ahead)
        o->end.ahead += rows * o->end.apart;
}

NOINLINE void store_partial(int height, const float *from, struct tile_out o)
{
    for (int i = 0; i < height; i++)
        for (int j = 0; j < o.cols; j++) {
            float *c = o.c + i * o.ldc + j;
            *c = from[i * NR + j] + (o.acc ? *c : 0);
            if (o.bias)
                *c += o.bias[j];
        }
}

INLINE void tile_store(int vectors, int height, vec sum[MR][GEMM_VECTORS], struct tile_out o)
{
    float whole[MR * NR];
    struct tile_out to = o;
    bool partial = o.cols < vectors * LANES;
    if (partial)
        to = (struct tile_out){.c = whole, .ldc = NR};
    UNROLL
    for (int i = 0; i < height; i++, to.c += to.ldc)
        UNROLL
    for (int v = 0; v < vectors; v++) {
        vec *c = (vec *)(to.c + v * LANES);
        if (to.acc)
            sum[i][v] += *c;
        if (to.bias)
            sum[i][v] += *(const vec *)(to.bias + v * LANES);
        *c = sum[i][v];
    }
    if (partial)
        store_partial(height, whole, o);
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

/* Stores whole vectors; nonexistent columns have weight 0. */
INLINE void tile_end(int vectors, int height, enum gemm_kind kind, vec sum[MR][GEMM_VECTORS],
                     struct tile_out o)
{
    vm_ints exist = lanes_below(o.cols - (vectors - 1) * LANES);
    UNROLL
    for (int i = 0; i < height; i++, move_down(1, &o)) {
        vec total;
        UNROLL
        for (int v = 0; v < vectors; v++) {
            vec x = sum[i][v];
            if (kind == GEMM_BIASED)
                x += *(const vec *)(o.end.p + v * LANES) * VM_LOG2E;
            if (kind != GEMM_WEIGHTS)
                x -= *o.end.shift;
            if (kind == GEMM_PROBABILITIES)
                x = at_most(x, 0);
            if (kind == GEMM_BIASED && LANES < 16) /* with AVX-512, powers are infinite rather than wrong */
                x = at_most(x, 60);
            if (kind == GEMM_GRADIENTS)
                x *= *(const vec *)(o.end.p + v * LANES);
            else
                x = kind == GEMM_WEIGHTS ? vm_exp2_normal(x) : vm_exp2(x);
            if (kind == GEMM_WEIGHTS && v == vectors - 1)
                x = (vec)((vm_ints)x & exist);
            if (v > 0)
                total += x;
            else
                total = x;
            *(vec *)(o.c + v * LANES) = x;
        }
        if (kind == GEMM_WEIGHTS || (kind == GEMM_BIASED && o.end.sums))
            *(vec *)o.end.sums += total;
        if ((kind == GEMM_BIASED || kind == GEMM_GRADIENTS) && o.end.ahead) {
            UNROLL
            for (int v = 0; v < vectors; v += 16 / LANES)
                __builtin_prefetch(o.end.ahead + v * LANES, 0, 2);
        }
    }
}

/*
 * Rows of A are read in groups of two or four, 0 to 3 rows from an address, so that there are registers for
 * all addresses.
 */
enum { GROUP = MR == 12 ? 4 : 2, GROUPS = (MR + GROUP - 1) / GROUP };

/* The compiler derives no other address from x. */
#define OPAQUE(x) __asm__("" : "+r"(x))

/* No vector stays in a register across this: gcc would keep constants there, and spill sums for them. */
#if defined(__AVX512F__) && !defined(__clang__)
#define FORGET_VECTORS                                                                                       \
    __asm__ volatile("" ::                                                                                   \
                         : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",   \
                           "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18",  \
                           "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26")
#else
#define FORGET_VECTORS
#endif

/* How a tile reads A: along its rows, or along its columns, of which it then needs one address. */
enum reads { BY_ROWS, BY_COLUMNS };

/* A step of k: `b` is its line of the packed B. */
INLINE void tile_step(int vectors, int height, enum reads reads, const float *const group[GROUPS],
                      int64_t row, int64_t row3, int q, const float *b, vec sum[MR][GEMM_VECTORS])
{
    vec line[GEMM_VECTORS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        line[v] = *(const vec *)(b + v * LANES);
    UNROLL
    for (int i = 0; i < height; i++) {
        int64_t rows = i % GROUP == 3 ? row3 : i % GROUP * row;
        float x = reads == BY_COLUMNS ? group[0][i] : group[i / GROUP][rows + q];
#ifdef __aarch64__ /* a load to all lanes would take a multiply-add's place */
        __asm__("" : "+w"(x));
#endif
        vec s = x - (vec){0}; /* in all lanes */
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = multiply_add(sum[i][v], s, line[v]);
    }
}

/* One tile; all but k (a multiple of `unrolled`), a, b and o are compile-time constants after inlining. */
INLINE void tile(enum gemm_kind kind, int vectors, int height, int unrolled, enum reads reads, int64_t k,
                 struct gemm_in a, const float *b, struct tile_out o)
{
    vec sum[MR][GEMM_VECTORS];
    const float *group[GROUPS];
    int64_t row3 = 3 * a.row;
    OPAQUE(row3);
    FORGET_VECTORS;
    UNROLL
    for (int i = 0; i < height; i++) {
        if (i % GROUP == 0)
            group[i / GROUP] = a.at + i * a.row;
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = (vec){0};
    }
    for (int64_t p = 0; p < k; p += unrolled) {
        UNROLL
        for (int q = 0; q < unrolled; q++, b += vectors * LANES) {
            if (kind == GEMM_STORE && q % 2 == 0)
                __builtin_prefetch(o.ahead + (p + q) * o.pace, 0, 2);
            tile_step(vectors, height, reads, group, a.row, row3, reads == BY_ROWS ? q : 0, b, sum);
            if (reads == BY_COLUMNS)
                group[0] += a.col;
        }
        UNROLL
        for (int i = 0; i < height; i += GROUP) {
            if (reads == BY_ROWS)
                group[i / GROUP] += unrolled;
            OPAQUE(group[i / GROUP]);
        }
    }
    if (kind == GEMM_STORE)
        tile_store(vectors, height, sum, o);
    else
        tile_end(vectors, height, kind, sum, o);
}

/*
 * `count` tiles of one height, one below the other. Each prefetches its share of what follows in B to the
 * second-level cache, in every other step of an unrolled loop: the first tile of a panel would wait for the
 * third level otherwise. a.col = 0: A is as from pack_rows.
 */
INLINE void tiles(enum gemm_kind kind, int vectors, int height, int unrolled, enum reads reads, int64_t count,
                  int64_t k, struct gemm_in a, const float *b, struct tile_out o)
{
    int64_t step = height * (a.col ? a.row : k);
    a.col = a.col ? a.col : height;
    for (; count > 0; count--, a.at += step, o.ahead += k * o.pace, move_down(height, &o))
        tile(kind, vectors, height, unrolled, reads, k, a, b, o);
}

/* Two loops in one tile would make gcc move its sums between them. */
INLINE void tiles_of_depth(enum gemm_kind kind, int vectors, int height, enum reads reads, int64_t count,
                           int64_t k, struct gemm_in a, const float *b, const struct tile_out *o)
{
    if (k % UNROLLED == 0)
        tiles(kind, vectors, height, UNROLLED, reads, count, k, a, b, *o);
    else
        tiles(kind, vectors, height, 1, reads, count, k, a, b, *o);
}

/* Only A of GEMM_STORE may be read along its columns. */
INLINE void tiles_of_size(enum gemm_kind kind, int vectors, int height, int64_t count, int64_t k,
                          struct gemm_in a, const float *b, const struct tile_out *o)
{
    if (kind == GEMM_STORE && a.row == 1)
        tiles_of_depth(kind, vectors, height, BY_COLUMNS, count, k, a, b, o);
    else
        tiles_of_depth(kind, vectors, height, BY_ROWS, count, k, a, b, o);
}

#ifdef ROLLED
#define run_tiles tiles_of_size
#else
/*
 * One function per kind and size, so that the constants of one do not occupy registers in another; together
 * they would take a compiler minutes.
 */
#define TILES(kind, vectors, height)                                                                         \
    NOINLINE void tiles_##kind##_##vectors##_##height(int64_t count, int64_t k, struct gemm_in a,            \
                                                      const float *b, const struct tile_out *o)              \
    {                                                                                                        \
        tiles_of_size(kind, vectors, height, count, k, a, b, o);                                             \
    }
#define TILES_NAME(kind, vectors, height) tiles_##kind##_##vectors##_##height,

#define HEIGHTS_4(X, kind, v) X(kind, v, 1) X(kind, v, 2) X(kind, v, 3) X(kind, v, 4)
#define HEIGHTS_6(X, kind, v) HEIGHTS_4(X, kind, v) X(kind, v, 5) X(kind, v, 6)
#if MR == 12
#define HEIGHTS(X, kind, v)                                                                                  \
    HEIGHTS_6(X, kind, v)                                                                                    \
    X(kind, v, 7) X(kind, v, 8) X(kind, v, 9) X(kind, v, 10) X(kind, v, 11) X(kind, v, 12)
#elif MR == 6
#define HEIGHTS HEIGHTS_6
#else
#define HEIGHTS HEIGHTS_4
#endif
#if GEMM_VECTORS == 2
#define SIZES(X, kind) HEIGHTS(X, kind, 1) HEIGHTS(X, kind, 2)
#else
#define SIZES(X, kind) HEIGHTS(X, kind, 1) HEIGHTS(X, kind, 2) HEIGHTS(X, kind, 3) HEIGHTS(X, kind, 4)
#endif

SIZES(TILES, GEMM_STORE)
SIZES(TILES, GEMM_WEIGHTS)
SIZES(TILES, GEMM_PROBABILITIES)
SIZES(TILES, GEMM_GRADIENTS)
SIZES(TILES, GEMM_BIASED)

static void run_tiles(enum gemm_kind kind, int vectors, int height, int64_t count, int64_t k,
                      struct gemm_in a, const float *b, const struct tile_out *o)
{
    static void (*const all[][GEMM_VECTORS * MR])(int64_t, int64_t, struct gemm_in, const float *,
                                                  const struct tile_out *) = {
        [GEMM_STORE] = {SIZES(TILES_NAME, GEMM_STORE)},
        [GEMM_WEIGHTS] = {SIZES(TILES_NAME, GEMM_WEIGHTS)},
        [GEMM_PROBABILITIES] = {SIZES(TILES_NAME, GEMM_PROBABILITIES)},
        [GEMM_GRADIENTS] = {SIZES(TILES_NAME, GEMM_GRADIENTS)},
        [GEMM_BIASED] = {SIZES(TILES_NAME, GEMM_BIASED)},
    };
    all[kind][(vectors - 1) * MR + height - 1](count, k, a, b, o);
}
#endif

/*
 * How m rows are divided into tiles of almost the same height, so that none is nearly empty: `tall` tiles of
 * this height, then others that have a row less.
 */
struct tiling {
    int64_t count, tall;
    int height;
};

static struct tiling tiling_of(int64_t m)
{
    int64_t count = blocks_of(m, MR), height = blocks_of(m, count);
    return (struct tiling){count, m - count * (height - 1), (int)height};
}

/* A column of tiles: all rows of C for one panel of B. */
static void panel(int64_t m, int64_t k, struct gemm_in a, const float *b, struct tile_out o)
{
    struct tiling t = tiling_of(m);
    int vectors = (int)blocks_of(o.cols, LANES);
    int64_t rows = t.tall * t.height;
    o.pace = max_of(1, vectors * LANES / t.count);
    o.ahead = b + k * vectors * LANES;
    run_tiles(o.end.kind, vectors, t.height, t.tall, k, a, b, &o);
    if (t.tall == t.count)
        return;
    a.at += rows * (a.col ? a.row : k);
    o.ahead += t.tall * k * o.pace;
    move_down(rows, &o);
    run_tiles(o.end.kind, vectors, t.height - 1, t.count - t.tall, k, a, b, &o);
}

/* Panels are processed `depth` steps of k at a time. */
static void product(int64_t m, int64_t n, int64_t k, int64_t depth, struct gemm_in a, const float *packed,
                    struct tile_out o)
{
    bool acc = o.acc;
    const float *bias = o.bias;
    for (int64_t j = 0; j < n && m > 0; j += NR, o.c += NR) {
        o.cols = (int)min_of(NR, n - j);
        int64_t width = round_up(o.cols, LANES);
        for (int64_t p = 0; p < k; p += depth) {
            struct gemm_in ap = {a.at + p * a.col, a.row, a.col};
            o.acc = acc || p > 0;
            o.bias = bias && p + depth >= k ? bias + j : NULL;
            panel(m, min_of(depth, k - p), ap, packed + j * k + p * width, o);
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

void gemm_biased(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c,
                 int64_t ldc, const float *bias)
{
    product(m, n, k, GEMM_DEPTH, a, packed, (struct tile_out){.c = c, .ldc = ldc, .bias = bias});
}

void gemm_fused(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c, int64_t ldc,
                struct gemm_end end)
{
    product(m, n, k, k, a, packed, (struct tile_out){.c = c, .ldc = ldc, .end = end});
}

/* Within each four lanes, elements of x (0 to 3) and of y (4 to 7). */
#define LANE(l, i)          ((i) % 4 + (l)*4 + (i) / 4 * LANES)
#define FOUR(l, i, j, k, m) LANE(l, i), LANE(l, j), LANE(l, k), LANE(l, m)
#if LANES == 16
#define SHUFFLE(x, y, ...)                                                                                   \
    __builtin_shufflevector(x, y, FOUR(0, __VA_ARGS__), FOUR(1, __VA_ARGS__), FOUR(2, __VA_ARGS__),          \
                            FOUR(3, __VA_ARGS__))
#elif LANES == 8
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, FOUR(0, __VA_ARGS__), FOUR(1, __VA_ARGS__))
#else
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, FOUR(0, __VA_ARGS__))
#endif

/* Elements p .. p + 3 of every fourth row. */
INLINE vec fours(const float *const *row, int64_t p)
{
#define AT(i) (*(const vec4 *)(row[i] + p))
#if LANES == 4
    return AT(0);
#elif LANES == 8
    return __builtin_shufflevector(AT(0), AT(4), 0, 1, 2, 3, 4, 5, 6, 7);
#else
    __m512 x = _mm512_insertf32x4(_mm512_castps128_ps512((__m128)AT(0)), (__m128)AT(4), 1);
    return (vec)_mm512_insertf32x4(_mm512_insertf32x4(x, (__m128)AT(8), 2), (__m128)AT(12), 3);
#endif
}

/* to[p][0 .. LANES - 1] = the rows' elements p, for p < k. */
static void transpose(int64_t k, const float *const row[LANES], float *to, int64_t width)
{
    int64_t p = 0;
    for (; p + 4 <= k; p += 4, to += 4 * width) {
        vec a = fours(row, p), b = fours(row + 1, p), c = fours(row + 2, p), d = fours(row + 3, p);
        vec ab = SHUFFLE(a, b, 0, 4, 1, 5), AB = SHUFFLE(a, b, 2, 6, 3, 7);
        vec cd = SHUFFLE(c, d, 0, 4, 1, 5), CD = SHUFFLE(c, d, 2, 6, 3, 7);
        *(vec *)to = SHUFFLE(ab, cd, 0, 1, 4, 5);
        *(vec *)(to + width) = SHUFFLE(ab, cd, 2, 3, 6, 7);
        *(vec *)(to + 2 * width) = SHUFFLE(AB, CD, 0, 1, 4, 5);
        *(vec *)(to + 3 * width) = SHUFFLE(AB, CD, 2, 3, 6, 7);
    }
    for (; p < k; p++, to += width)
        for (int j = 0; j < LANES; j++)
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
    for (int64_t p = 0; p < k; p += LINE) {
        int64_t ahead = p + AHEAD < k ? AHEAD : width * b.col + min_of(0, AHEAD - k);
        for (int64_t j = 0; j < width; j += LANES) {
            const float *row[LANES];
            for (int i = 0; i < LANES; i++) {
                row[i] = b.at + min_of(j + i, cols - 1) * b.col + p;
                __builtin_prefetch(row[i] + ahead);
            }
            transpose(min_of(LINE, k - p), row, to + p * width + j, width);
        }
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
 * A (m x k), tile by tile, each as its k columns one after another. Columns are copied with what follows
 * them, which the next one overwrites.
 */
static void pack_rows(int64_t m, int64_t k, struct gemm_in a, float *to)
{
    struct tiling t = tiling_of(m);
    for (int64_t i = 0, height = t.height; i < m; i += height) {
        height = i < t.tall * t.height ? t.height : t.height - 1;
        for (int64_t p = 0; p < k; p++, to += height) {
            const float *from = a.at + i * a.row + p * a.col;
            if (a.row == 1 && i + MR <= m)
                memcpy(to, from, MR * sizeof(float));
            else
                for (int64_t r = 0; r < height; r++)
                    to[r] = from[r * a.row];
        }
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
        product(m, n, depth, depth, (struct gemm_in){scratch, 1, 0}, packed,
                (struct tile_out){.c = c, .ldc = ldc, .acc = acc || p > 0});
    }
}
