/*
 * Shared by the files of the oracle, which are compiled with two types, as C: their rows of the table,
 * matrices, the product by CBLAS, the softmax. Functions of libm and constants are of double with either.
 */
#ifndef GTMARK_KERNELS_ORACLE_H
#define GTMARK_KERNELS_ORACLE_H

#include <math.h>
#include <stdint.h>

/* The ops, and of those with scratch its bytes: oracle_<op>_f32, oracle_<op>_f64, oracle_<op>_scratch_f32 ...
 */
#define ORACLE_OPS(PLAIN, WITH_SCRATCH)                                                                      \
    PLAIN(linear)                                                                                            \
    WITH_SCRATCH(linear_backward)                                                                            \
    WITH_SCRATCH(mlp)                                                                                        \
    WITH_SCRATCH(mlp_backward)                                                                               \
    WITH_SCRATCH(attention)                                                                                  \
    WITH_SCRATCH(attention_backward)                                                                         \
    PLAIN(attention_scores)                                                                                  \
    PLAIN(attention_scores_backward)                                                                         \
    PLAIN(attention_softmax)                                                                                 \
    PLAIN(attention_softmax_backward)                                                                        \
    PLAIN(attention_values)                                                                                  \
    PLAIN(attention_values_backward)                                                                         \
    WITH_SCRATCH(performer_keys)                                                                             \
    WITH_SCRATCH(performer_keys_backward)                                                                    \
    WITH_SCRATCH(performer_attention)                                                                        \
    WITH_SCRATCH(performer_attention_backward)

#define DECLARE(op)                                                                                          \
    void oracle_##op##_f32(const void *args);                                                                \
    void oracle_##op##_f64(const void *args);
#define DECLARE_SCRATCH(op)                                                                                  \
    DECLARE(op)                                                                                              \
    int64_t oracle_##op##_scratch_f32(const void *args);                                                     \
    int64_t oracle_##op##_scratch_f64(const void *args);
ORACLE_OPS(DECLARE, DECLARE_SCRATCH)

#if defined(REF_F32) || defined(REF_F64)
#include "kernels/blas.h"
#include "kernels/offsets.h"
#include "kernels/ops.h"
#include "kernels/ref/real.h"

#define ORACLE_PASTE(name, type)  oracle_##name##_##type
#define ORACLE_EXPAND(name, type) ORACLE_PASTE(name, type)
#define ORACLE(name)              ORACLE_EXPAND(name, REF_TYPE)

/* Row i; null if the matrix is absent. */
static inline real *at(struct mat m, int64_t i)
{
    return m.data ? (real *)m.data + i * m.ld : NULL;
}

/* A leading dimension that CBLAS accepts: that of a one-row view is arbitrary. */
static inline int64_t ld(struct mat m)
{
    return m.ld > m.cols ? m.ld : m.cols;
}

#ifdef REF_F32
#define GEMM sgemm
#else
#define GEMM dgemm
#endif

/* C (m x n) (+)= alpha op(A) op(B), row-major. */
static inline void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, real alpha, const real *a,
                           int64_t lda, const real *b, int64_t ldb, bool acc, real *c, int64_t ldc)
{
    blas()->GEMM(BLAS_ROW_MAJOR, ta ? BLAS_TRANS : BLAS_NO_TRANS, tb ? BLAS_TRANS : BLAS_NO_TRANS, (int)m,
                 (int)n, (int)k, alpha, a, (int)lda, b, (int)ldb, acc ? 1 : 0, c, (int)ldc);
}

/* Turns the scores of `rows` queries against n keys into probabilities; writes lse unless it is null. */
static inline void softmax(real *s, int64_t rows, int64_t n, double *lse, int64_t lse_ld)
{
    for (int64_t i = 0; i < rows; i++, s += n) {
        real top = s[0], sum = 0;
        for (int64_t j = 0; j < n; j++)
            top = fmax(top, s[j]);
        for (int64_t j = 0; j < n; j++)
            sum += s[j] = exp(s[j] - top);
        for (int64_t j = 0; j < n; j++)
            s[j] /= sum;
        if (lse)
            lse[i * lse_ld] = top + log(sum);
    }
}
#endif

#endif
