/*
 * The register tile, packing, and the loops around them; see gemm.h for the method.
 *
 * Vectors are the compilers' generic vector types, which become the instruction set's own.
 */
#include "kernels/cpu/gemm.h"

#include <string.h>

#define MR    GEMM_ROWS
#define NR    GEMM_COLS
#define LANES GEMM_LANES

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float vec4 __attribute__((vector_size(16), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Where a tile of C goes: `rows` and `cols` of it exist. */
struct tile_out {
    float *c;
    int64_t ldc;
    int rows, cols;
    bool acc;
};

static void store_partial(const float *from, struct tile_out o)
{
    for (int i = 0; i < o.rows; i++)
        for (int j = 0; j < o.cols; j++) {
            float *c = o.c + i * o.ldc + j;
            *c = from[i * NR + j] + (o.acc ? *c : 0);
        }
}

INLINE void tile_store(int vectors, vec sum[MR][GEMM_VECTORS], struct tile_out o)
{
    float whole[MR * NR];
    struct tile_out to = o;
    bool partial = o.rows < MR || o.cols < vectors * LANES;
    if (partial)
        to = (struct tile_out){whole, NR, MR, NR, false};
    UNROLL
    for (int i = 0; i < MR; i++)
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

/* How a tile reads A: along its rows, down its columns, or (at the lower edge) with the last row repeated. */
enum reads { BY_ROWS, BY_COLUMNS, BY_EDGE };

INLINE float element(enum reads reads, struct gemm_in a, const float *const row[MR], int i, int64_t p)
{
    return reads == BY_COLUMNS ? a.at[p * a.col + i] : row[i][reads == BY_ROWS ? p : p * a.col];
}

/* One tile; `vectors` and `reads` are constants where this is inlined. */
INLINE void tile(int vectors, enum reads reads, int64_t k, struct gemm_in a, const float *b,
                 struct tile_out o)
{
    vec sum[MR][GEMM_VECTORS];
    const float *row[MR];
    UNROLL
    for (int i = 0; i < MR; i++) {
        row[i] = a.at + (i < o.rows ? i : o.rows - 1) * a.row;
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = (vec){0};
    }
    for (int64_t p = 0; p < k; p++, b += vectors * LANES) {
        vec line[GEMM_VECTORS];
        UNROLL
        for (int v = 0; v < vectors; v++)
            line[v] = *(const vec *)(b + v * LANES);
        UNROLL
        for (int i = 0; i < MR; i++) {
            float s = element(reads, a, row, i, p);
            UNROLL
            for (int v = 0; v < vectors; v++)
                sum[i][v] += s * line[v];
        }
    }
    tile_store(vectors, sum, o);
}

/* A column of tiles: all rows of C under one panel of B. Tiles of A are `step` floats apart. */
INLINE void panel(int vectors, int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                  struct tile_out o)
{
    for (int64_t i = 0; i < m; i += MR, a.at += step, o.c += MR * o.ldc) {
        o.rows = (int)min_of(MR, m - i);
        if (o.rows < MR)
            tile(vectors, BY_EDGE, k, a, b, o);
        else if (a.col == 1)
            tile(vectors, BY_ROWS, k, a, b, o);
        else
            tile(vectors, BY_COLUMNS, k, a, b, o);
    }
}

static void panel_of_width(int64_t m, int64_t k, struct gemm_in a, int64_t step, const float *b,
                           struct tile_out o)
{
    switch (blocks_of(o.cols, LANES)) {
    case 1:
        panel(1, m, k, a, step, b, o);
        break;
    case 2:
        panel(2, m, k, a, step, b, o);
        break;
#if GEMM_VECTORS > 2
    case 3:
        panel(3, m, k, a, step, b, o);
        break;
    case 4:
        panel(4, m, k, a, step, b, o);
        break;
#endif
    }
}

/* Panels are cut along k so that what a tile reads of one stays in the first-level cache. */
void gemm_packed(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c,
                 int64_t ldc, bool acc)
{
    for (int64_t j = 0; j < n; j += NR) {
        int cols = (int)min_of(NR, n - j);
        int64_t width = round_up(cols, LANES);
        for (int64_t p = 0; p < k; p += GEMM_DEPTH) {
            struct gemm_in ap = {a.at + p * a.col, a.row, a.col};
            struct tile_out o = {c + j, ldc, 0, cols, acc || p > 0};
            panel_of_width(m, min_of(GEMM_DEPTH, k - p), ap, MR * a.row, packed + j * k + p * width, o);
        }
    }
}

/* to[p][0 .. 3] = four rows' element p, for p < k. */
static void transpose4(int64_t k, const float *from, int64_t ld, float *to, int64_t width)
{
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
        vec4 a = *(const vec4 *)(from + p), b = *(const vec4 *)(from + ld + p);
        vec4 c = *(const vec4 *)(from + 2 * ld + p), d = *(const vec4 *)(from + 3 * ld + p);
        vec4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        vec4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        *(vec4 *)(to + p * width) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        *(vec4 *)(to + (p + 1) * width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        *(vec4 *)(to + (p + 2) * width) = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
        *(vec4 *)(to + (p + 3) * width) = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
    }
    for (; p < k; p++)
        for (int j = 0; j < 4; j++)
            to[p * width + j] = from[j * ld + p];
}

/* A panel `width` wide of which `cols` exist; the others are zeros. */
static void pack_panel(int64_t k, int64_t cols, int64_t width, struct gemm_in b, float *to)
{
    int64_t done = 0;
    if (b.row == 1)
        for (; done + 4 <= cols; done += 4)
            transpose4(k, b.at + done * b.col, b.col, to + done, width);
    for (int64_t p = 0; p < k; p++) {
        const float *from = b.at + p * b.row;
        float *line = to + p * width;
        if (b.col == 1 && cols == NR)
            memcpy(line, from, NR * sizeof(float));
        else
            for (int64_t j = done; j < width; j++)
                line[j] = j < cols ? from[j * b.col] : 0;
    }
}

void gemm_pack(int64_t k, int64_t n, struct gemm_in b, float *packed)
{
    for (int64_t j = 0; j < n; j += NR, b.at += NR * b.col, packed += NR * k) {
        int64_t cols = min_of(NR, n - j);
        pack_panel(k, cols, round_up(cols, LANES), b, packed);
    }
}

/* A (m x k) in tiles of MR rows, each k long, as BY_COLUMNS reads them; rows beyond the last are zeros. */
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
            struct tile_out o = {c + j, ldc, 0, (int)min_of(NR, n - j), acc || p > 0};
            panel_of_width(m, depth, (struct gemm_in){scratch, 1, MR}, depth * MR, packed + j * depth, o);
        }
    }
}
