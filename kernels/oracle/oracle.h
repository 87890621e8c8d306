/* Shared by the files of the oracle: matrices of doubles, the product by CBLAS, the softmax. */
#ifndef GTMARK_KERNELS_ORACLE_H
#define GTMARK_KERNELS_ORACLE_H

#include "kernels/blas.h"
#include "kernels/offsets.h"
#include "kernels/ops.h"

#include <math.h>

/* Row i; null if the matrix is absent. */
static inline double *at(struct mat m, int64_t i)
{
    return m.data ? (double *)m.data + i * m.ld : NULL;
}

/* A leading dimension that CBLAS accepts: that of a one-row view is arbitrary. */
static inline int64_t ld(struct mat m)
{
    return m.ld > m.cols ? m.ld : m.cols;
}

/* C (m x n) (+)= alpha op(A) op(B), row-major. */
static inline void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                           int64_t lda, const double *b, int64_t ldb, bool acc, double *c, int64_t ldc)
{
    blas()->dgemm(BLAS_ROW_MAJOR, ta ? BLAS_TRANS : BLAS_NO_TRANS, tb ? BLAS_TRANS : BLAS_NO_TRANS, (int)m,
                  (int)n, (int)k, alpha, a, (int)lda, b, (int)ldb, acc ? 1 : 0, c, (int)ldc);
}

/* Turns the scores of `rows` queries against n keys into probabilities; writes lse unless it is null. */
static inline void softmax(double *s, int64_t rows, int64_t n, double *lse, int64_t lse_ld)
{
    for (int64_t i = 0; i < rows; i++, s += n) {
        double top = s[0], sum = 0;
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

/* kernels/oracle/unfused.c */
void oracle_attention_scores(const void *args);
void oracle_attention_scores_backward(const void *args);
void oracle_attention_softmax(const void *args);
void oracle_attention_softmax_backward(const void *args);
void oracle_attention_values(const void *args);
void oracle_attention_values_backward(const void *args);

/* kernels/oracle/performer.c */
void oracle_performer_keys(const void *args);
void oracle_performer_keys_backward(const void *args);
void oracle_performer_attention(const void *args);
void oracle_performer_attention_backward(const void *args);
int64_t oracle_performer_keys_scratch(const void *args);
int64_t oracle_performer_keys_backward_scratch(const void *args);
int64_t oracle_performer_attention_scratch(const void *args);
int64_t oracle_performer_attention_backward_scratch(const void *args);

#endif
