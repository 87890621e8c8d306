/*
 * Row-major matrix products with cuBLASLt, which is column-major. A row-major R x C matrix read as
 * column-major is its transpose, C x R with the same ld. For c = op(a) op(b) the library therefore computes
 * c' = op(b)' op(a)': the operands are swapped, and keep their transpose flags, because what is stored is
 * already transposed. For the linear layer:
 *
 *   y = x w'     a = x, b = w transposed: the library's first operand is w, transposed, the second x
 *   dx = dz w    a = dz, b = w
 *   dw = dz' x   a = dz transposed, b = x
 *
 * A bias per column of c is one per row of c', which the BIAS epilogue adds. The sums of dz over its rows are
 * those of the second operand over the product's depth, which the BGRADB epilogue stores. Both have the type
 * of c ("Bias gradient vector elements are the same type as the output elements", cublasLt.h).
 *
 * Operands are F32, or BF16 with c in BF16 or F32. Sums are F32 ("cublasLtMatmul()", the table of types).
 *
 * Results are deterministic: split-K algorithms that write partial sums to a workspace and reduce them in a
 * second step are allowed; those that accumulate in place in the output or round partial sums are excluded.
 * The algorithm depends on shapes, alignment and device.
 *
 * Descriptors are on the stack, and the library caches the results of its heuristic, so a call costs the host
 * a few microseconds, and nothing in a captured graph.
 */
#ifndef GTMARK_KERNELS_CUDA_MATMUL_H
#define GTMARK_KERNELS_CUDA_MATMUL_H

#include "kernels/arithmetic.h"
#include "kernels/cuda/context.h"
#include "kernels/mat.h"

enum {
    MATMUL_WORKSPACE = 4 << 20, /* bytes; enough for 16 partial sums of 256 x 256 entries */
    BIAS_ALIGNMENT = 16,        /* bytes, for epilogues */
};

struct matmul {
    struct mat c, a, b; /* c = op(a) op(b), or += if c is accumulated */
    bool a_transposed, b_transposed;
    bool tf32;
    cublasLtEpilogue_t epilogue;
    void *bias; /* 1 x columns of c, for an epilogue with one */
};

static inline cublasStatus_t matmul_layout(cublasLtMatrixLayoutOpaque_t *layout, struct mat m)
{
    return cublasLtMatrixLayoutInit(layout, m.dtype == BF16 ? CUDA_R_16BF : CUDA_R_32F, (uint64_t)m.cols,
                                    (uint64_t)m.rows, max_of(m.ld, m.cols));
}

/* The alignment of an address, up to the largest that the library distinguishes. */
static inline uint32_t matmul_alignment(const void *data)
{
    uintptr_t bits = (uintptr_t)data | 256;
    return (uint32_t)(bits & (~bits + 1));
}

static inline cublasStatus_t matmul_operation(cublasLtMatmulDescOpaque_t *operation, const struct matmul *m)
{
    const int32_t first = m->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t second = m->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const uint32_t epilogue = m->epilogue;
    const void *bias = m->bias;
    const cublasComputeType_t compute = m->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cublasStatus_t s = cublasLtMatmulDescInit(operation, compute, CUDA_R_32F);
    if (!s)
        s = cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
    if (!s)
        s = cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
    if (!s)
        s = cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                           sizeof epilogue);
    if (!s && bias)
        s = cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    return s;
}

static inline cublasStatus_t matmul_preference(cublasLtMatmulPreferenceOpaque_t *preference,
                                               const struct matmul *m)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const void *const data[] = {m->b.data, m->a.data, m->c.data, m->c.data};
    const uint64_t workspace = MATMUL_WORKSPACE;
    const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasStatus_t s = cublasLtMatmulPreferenceInit(preference);
    if (!s)
        s = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                 &workspace, sizeof workspace);
    if (!s)
        s = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                 &schemes, sizeof schemes);
    for (int i = 0; i < 4 && !s; i++) {
        const uint32_t bytes = matmul_alignment(data[i]);
        s = cublasLtMatmulPreferenceSetAttribute(preference, alignments[i], &bytes, sizeof bytes);
    }
    return s;
}

/*
 * Queues the product; `workspace` has MATMUL_WORKSPACE bytes. Returns CUBLAS_STATUS_NOT_SUPPORTED, with
 * nothing queued, if there is no algorithm.
 */
static inline cublasStatus_t matmul(const struct cuda_context *c, const struct matmul *m, void *workspace)
{
    const float one = 1, beta = m->c.acc ? 1 : 0;
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatrixLayoutOpaque_t first, second, result;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    if (cuda_is_idle(c))
        return CUBLAS_STATUS_SUCCESS;
    cublasStatus_t s = matmul_operation(&operation, m);
    if (!s)
        s = matmul_preference(&preference, m);
    if (!s)
        s = matmul_layout(&first, m->b);
    if (!s)
        s = matmul_layout(&second, m->a);
    if (!s)
        s = matmul_layout(&result, m->c);
    if (!s)
        s = cublasLtMatmulAlgoGetHeuristic(c->blas_lt, &operation, &first, &second, &result, &result,
                                           &preference, 1, &found, &count);
    if (!s && count == 0)
        s = CUBLAS_STATUS_NOT_SUPPORTED;
    if (!s)
        s = cublasLtMatmul(c->blas_lt, &operation, &one, m->b.data, &first, m->a.data, &second, &beta,
                           m->c.data, &result, m->c.data, &result, &found.algo, workspace, MATMUL_WORKSPACE,
                           c->stream);
    return s;
}

#endif
