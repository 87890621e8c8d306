/*
 * Serial single-precision matrix product for blocks that fit into a core's caches: C (+)= A B.
 *
 * The method is that of Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", ACM TOMS
 * 34(3), 2008), as far as small operands need it. A register tile of GEMM_ROWS x GEMM_COLS of C advances
 * along k. B is packed into panels of GEMM_COLS columns (the last one rounded up to whole vectors), each
 * panel k rows long; A is read in place, because its elements are broadcast.
 *
 * Every element of C is summed over k in the same order wherever it is in the block (one chain per GEMM_DEPTH
 * steps of k), so results do not depend on how C is divided into blocks.
 */
#ifndef GTMARK_KERNELS_CPU_GEMM_H
#define GTMARK_KERNELS_CPU_GEMM_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vector_math.h"

/* The vector width in floats, and a tile that fills the registers: 32, 16 or (NEON) 32 of them. */
#define GEMM_LANES VM_LANES
#if defined(__AVX512F__)
#define GEMM_VECTORS 2
#define GEMM_ROWS    12
#elif defined(__AVX__)
#define GEMM_VECTORS 2
#define GEMM_ROWS    6
#elif defined(__aarch64__)
#define GEMM_VECTORS 4
#define GEMM_ROWS    6
#else
#define GEMM_VECTORS 2
#define GEMM_ROWS    4
#endif
#define GEMM_COLS  (GEMM_LANES * GEMM_VECTORS)
#define GEMM_DEPTH 256

/* Element (i, k) of a matrix is at[i * row + k * col]. */
struct gemm_in {
    const float *at;
    int64_t row, col;
};

static inline struct gemm_in gemm_in(const float *at, int64_t ld)
{
    return (struct gemm_in){at, ld, 1};
}

static inline struct gemm_in gemm_transposed(const float *at, int64_t ld)
{
    return (struct gemm_in){at, 1, ld};
}

/* Floats of a packed k x n matrix. */
static inline int64_t gemm_packed_size(int64_t k, int64_t n)
{
    return k * round_up(n, GEMM_LANES);
}

/*
 * Floats to leave unused between a packed matrix and what a thread writes: products prefetch beyond the end
 * of B, which takes lines away from the thread that writes them.
 */
enum { GEMM_GAP = THREAD_GAP / sizeof(float) };

#define gemm_pack   CPU(gemm_pack)
#define gemm_packed CPU(gemm_packed)
#define gemm_biased CPU(gemm_biased)
#define gemm_fused  CPU(gemm_fused)
#define gemm_outer  CPU(gemm_outer)

/*
 * Packs B (k x n). Panels are independent: a caller may pack [first, first + n) of a wider B, first a
 * multiple of GEMM_COLS, to packed + first * k.
 */
void gemm_pack(int64_t k, int64_t n, struct gemm_in b, float *packed);

/* x *= factor; n elements. */
static inline void gemm_scale(int64_t n, float *x, float factor)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* C (m x n, row-major) = A B, or C += A B if acc. One of a.row, a.col is 1. */
void gemm_packed(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c,
                 int64_t ldc, bool acc);

/* C = A B, and bias (n floats; null: none) added to each row. */
void gemm_biased(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c,
                 int64_t ldc, const float *bias);

/* Operations on a tile of C while it is in registers; `shift`, unless for GEMM_WEIGHTS, has an element per
 * row. */
enum gemm_kind {
    GEMM_STORE,         /* A B */
    GEMM_WEIGHTS,       /* 2^(A B) of |A B| <= 125, also added to the row's GEMM_LANES lanes of `sums` */
    GEMM_PROBABILITIES, /* 2^(A B - shift), but at most 1 */
    GEMM_GRADIENTS,     /* p (A B - shift), with p laid out like C */
    GEMM_BIASED, /* 2^(A B + p log2(e) - shift), infinite or 2^60 if it is more; also added to `sums`, if
                    given */
};

struct gemm_end {
    enum gemm_kind kind;
    const float *shift, *p;
    float *sums;
    const float *ahead; /* unless null, prefetched: of rows `apart`, as much as is computed */
    int64_t apart;
};

/*
 * C = `end` applied to A B, each element of which is one chain over k: its bits are the same for every kind.
 * Except for GEMM_STORE, A is read along its rows, and whole vectors are written: C and p are padded to a
 * multiple of GEMM_LANES columns.
 */
void gemm_fused(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c, int64_t ldc,
                struct gemm_end end);

/*
 * gemm_packed for A and B of any strides and any k: both are packed, GEMM_DEPTH steps of k at a time, into
 * gemm_outer_scratch(m, n) floats of scratch. For short products of long, transposed operands.
 */
void gemm_outer(int64_t m, int64_t n, int64_t k, struct gemm_in a, struct gemm_in b, float *c, int64_t ldc,
                bool acc, float *scratch);

static inline int64_t gemm_outer_scratch(int64_t m, int64_t n)
{
    return GEMM_DEPTH * (round_up(m, GEMM_ROWS) + round_up(n, GEMM_LANES));
}

/* Where each thread has a share of the rows, as in the ops before and after, and packs B for itself. */
enum {
    GEMM_FEW = 1 << 16,   /* floats of A in a share, at most: it stays in the second-level cache */
    GEMM_SMALL = 1 << 15, /* floats of B, at most */
    GEMM_BLOCK = 128      /* rows at a time */
};

/*
 * Division of an n x m product of depth k into tasks: `blocks` of rows, of almost the same height, so that
 * threads with the same number of tasks have the same work, times blocks of `cols` columns. They are
 * processed row by row, and the packed B of a column of blocks fits in the second-level cache.
 */
struct gemm_grid {
    int64_t blocks, cols;
};

static inline struct gemm_grid gemm_grid(int64_t n, int64_t m, int64_t k, int64_t rows)
{
    enum { STEP = 64, PACKED = 98304 /* floats */, TASKS = 16 };
    int64_t row_tasks = blocks_of(n, rows);
    int64_t col_tasks = max_of(blocks_of(TASKS, row_tasks), blocks_of(m * k, PACKED));
    col_tasks = min_of(col_tasks, blocks_of(m, STEP));
    return (struct gemm_grid){row_tasks, round_up(blocks_of(m, col_tasks), STEP)};
}

/* The first row of block b of n rows; n for b = blocks. */
static inline int64_t gemm_grid_row(struct gemm_grid grid, int64_t n, int64_t b)
{
    return min_of(n, round_up(n * b / grid.blocks, GEMM_ROWS));
}

#endif
