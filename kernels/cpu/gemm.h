/*
 * Serial single-precision matrix product for blocks that fit into a core's caches: C (+)= A B.
 *
 * The method is that of Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", ACM TOMS
 * 34(3), 2008), as far as small operands need it. A register tile of GEMM_ROWS x GEMM_COLS of C runs along k. B
 * is packed into panels of GEMM_COLS columns (the last one as wide as whole vectors need), each panel k rows
 * long; A is read where it lies, for its elements are broadcast.
 *
 * Every element of C is summed over k in the same order wherever it stands in the block (a chain for each
 * GEMM_DEPTH steps of k), so a result does not depend on how C was cut into blocks.
 */
#ifndef GTMARK_KERNELS_CPU_GEMM_H
#define GTMARK_KERNELS_CPU_GEMM_H

#include "kernels/cpu/cpu.h"

/* The vector width in floats, and a tile that fills the registers: 32, 16 or (NEON) 32 of them. */
#if defined(__AVX512F__)
#define GEMM_LANES   16
#define GEMM_VECTORS 2
#define GEMM_ROWS    12
#elif defined(__AVX__)
#define GEMM_LANES   8
#define GEMM_VECTORS 2
#define GEMM_ROWS    6
#elif defined(__aarch64__)
#define GEMM_LANES   4
#define GEMM_VECTORS 4
#define GEMM_ROWS    6
#else
#define GEMM_LANES   4
#define GEMM_VECTORS 2
#define GEMM_ROWS    4
#endif
#define GEMM_COLS  (GEMM_LANES * GEMM_VECTORS)
#define GEMM_DEPTH 256

/* Element (i, k) of A stands at at[i * row + k * col]; of B, element (k, j) at at[k * row + j * col]. */
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

/* Packs B (k x n). Panels are independent: a caller may pack [first, first + n) of a wider B, first a multiple of
 * GEMM_COLS, to packed + first * k. */
void CPU(gemm_pack)(int64_t k, int64_t n, struct gemm_in b, float *packed);

/* C (m x n, row-major) = A B, or C += A B if acc. One of a.row, a.col is 1. */
void CPU(gemm_packed)(int64_t m, int64_t n, int64_t k, struct gemm_in a, const float *packed, float *c,
                      int64_t ldc, bool acc);

/* The same for transposed A (a.row = 1) and row-major B of any strides and any k: both are packed, GEMM_DEPTH
 * rows at a time, into scratch of gemm_scratch_size(m, n) floats. */
void CPU(gemm_outer)(int64_t m, int64_t n, int64_t k, struct gemm_in a, struct gemm_in b, float *c, int64_t ldc,
                     bool acc, float *scratch);

static inline int64_t gemm_outer_scratch(int64_t m, int64_t n)
{
    return GEMM_DEPTH * (round_up(m, 16) + round_up(n, 16));
}

#endif
