/* The serial product of CBLAS with the interface of gemm.h, for builds that have one. */
#ifndef GTMARK_KERNELS_CPU_BLAS_H
#define GTMARK_KERNELS_CPU_BLAS_H

#include "kernels/blas.h"
#include "kernels/cpu/gemm.h"

static inline int blas_order(struct gemm_in m)
{
    return m.col == 1 ? BLAS_NO_TRANS : BLAS_TRANS;
}

/* The leading dimension; that of a one-row view is arbitrary, but CBLAS requires at least the width. */
static inline int blas_ld(struct gemm_in m, int64_t rows, int64_t cols)
{
    return (int)(m.col == 1 ? max_of(m.row, cols) : max_of(m.col, rows));
}

/* C (m x n) = A B, or C += A B if acc. For A and for B, either row or col is 1. */
static inline void blas_product(int64_t m, int64_t n, int64_t k, struct gemm_in a, struct gemm_in b, float *c,
                                int64_t ldc, bool acc)
{
    blas()->sgemm(BLAS_ROW_MAJOR, blas_order(a), blas_order(b), (int)m, (int)n, (int)k, 1, a.at,
                  blas_ld(a, m, k), b.at, blas_ld(b, k, n), acc ? 1 : 0, c, (int)max_of(ldc, n));
}

#endif
