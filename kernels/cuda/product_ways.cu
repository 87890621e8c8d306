/* Describing a product to cuBLASLt and queueing it. Descriptors are on the stack. See product_ways.h. */
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/product_ways.h"

namespace
{
/* As the library sees it; of `parts` equal parts of the depth the first, if it is not 0. */
struct problem {
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatrixLayoutOpaque_t first, second, result;
};

/* Parts follow one another as rows do. */
int64_t stride_of(struct mat m)
{
    return m.rows * max_of(m.ld, m.cols);
}

cublasStatus_t describe_layout(cublasLtMatrixLayoutOpaque_t *layout, struct mat m, int64_t parts)
{
    const int32_t count = (int32_t)parts;
    const int64_t stride = stride_of(m);
    cublasStatus_t s = cublasLtMatrixLayoutInit(layout, m.dtype == BF16 ? CUDA_R_16BF : CUDA_R_32F,
                                                (uint64_t)m.cols, (uint64_t)m.rows, max_of(m.ld, m.cols));
    if (!s && parts)
        s = cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                             sizeof count);
    if (!s && parts)
        s = cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                             sizeof stride);
    return s;
}

cublasStatus_t describe_operation(cublasLtMatmulDescOpaque_t *operation, const struct matmul *m)
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

cublasStatus_t describe_preference(cublasLtMatmulPreferenceOpaque_t *preference, const struct matmul *m,
                                   int64_t parts, uint64_t workspace)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const struct mat of[] = {m->b, m->a, m->c, m->c};
    const bool plain = m->epilogue == CUBLASLT_EPILOGUE_DEFAULT, splits = plain || m->c.dtype == F32;
    const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_NONE | (splits ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : 0);
    cublasStatus_t s = cublasLtMatmulPreferenceInit(preference);
    if (!s)
        s = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                 &workspace, sizeof workspace);
    if (!s)
        s = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                 &schemes, sizeof schemes);
    for (int i = 0; i < 4 && !s; i++) {
        const uint32_t bytes = product_alignment(of[i], parts);
        s = cublasLtMatmulPreferenceSetAttribute(preference, alignments[i], &bytes, sizeof bytes);
    }
    return s;
}

cublasStatus_t describe(struct problem *p, const struct matmul *m, int64_t parts, uint64_t workspace)
{
    cublasStatus_t s = describe_operation(&p->operation, m);
    if (!s)
        s = describe_preference(&p->preference, m, parts, workspace);
    if (!s)
        s = describe_layout(&p->first, m->b, parts);
    if (!s)
        s = describe_layout(&p->second, m->a, parts);
    if (!s)
        s = describe_layout(&p->result, m->c, parts);
    return s;
}

/* One of them, with its result in the workspace. */
struct matmul part_of(const struct cuda_context *c, const struct matmul *m, int64_t parts)
{
    struct matmul part = *m;
    part.a.rows = part.b.rows = m->a.rows / parts;
    part.c = (struct mat){c->workspace, m->c.rows, m->c.cols, m->c.cols, 0, 0, F32, false};
    return part;
}

/* c (+)= the parts, in order, and what the last rows of a and b, which no part has, give. */
template <class T> struct part_sums {
    struct mat c, a, b;
    const float *partial;
    int64_t parts, rest;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = same<V>(0);
#pragma unroll 4
        for (int64_t p = 0; p < parts; p++)
            sum = sum + load<V>(partial + (p * c.rows + i) * c.cols + k);
#pragma unroll 1
        for (int64_t row = rest; row < a.rows; row++)
            sum = sum + load<V>(entry<T>(b, row, k)) * load<1>(entry<T>(a, row, i)).at[0];
        put(entry(c, i, k), c.acc, sum);
    }
};

cuda_status add_parts(const struct call &call, const struct matmul *m, int64_t parts)
{
    const struct mat all[] = {m->c, m->b};
    struct lines l = lines_by_row(m->c.rows, m->c.cols, width_of(all, 2));
    return run_entries<part_sums>(call, m->a.dtype, l, m->c, m->a, m->b,
                                  (const float *)context_of(call)->workspace, parts,
                                  m->a.rows / parts * parts);
}

/* Entry (i, l) of an operand, l along the product's depth, is at data + i across + l along. */
template <class T> struct factor {
    const T *data;
    int64_t across, along;
};

template <class T> struct factor<T> factor_of(struct mat m, bool depth_in_rows) {
    return {(const T *)m.data, depth_in_rows ? 1 : m.ld, depth_in_rows ? m.ld : 1};
}

/* A warp for each entry. */
template <class C, class T>
__global__ void __launch_bounds__(BLOCK, 1)
    line_of_products(struct mat c, struct factor<T> a, struct factor<T> b, int64_t depth)
{
    int64_t step = (int64_t)gridDim.x * (BLOCK / WARP);
    int lane = (int)threadIdx.x % WARP;
    for (int64_t n = (int64_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; n < c.rows * c.cols;
         n += step) {
        int64_t i = n / c.cols, k = n % c.cols;
        float sum = 0;
        for (int64_t l = lane; l < depth; l += WARP)
            sum += load<1>(a.data + i * a.across + l * a.along).at[0] *
                   load<1>(b.data + k * b.across + l * b.along).at[0];
        sum = team_sum(WHOLE_WARP, WARP, sum);
        if (lane == 0)
            put(entry<C>(c, i, k), c.acc, vec<1>{{sum}});
    }
}

template <class C, class T> cuda_status run_line(const struct call &call, const struct matmul *m)
{
    struct launch l = launch_blocks(blocks_of(mat_size(m->c), BLOCK / WARP), 1);
    return run(call, l, line_of_products<C, T>, m->c, factor_of<T>(m->a, m->a_transposed),
               factor_of<T>(m->b, !m->b_transposed), product_depth(m));
}

} // namespace

uint32_t product_alignment(struct mat m, int64_t parts)
{
    uintptr_t bits = (uintptr_t)m.data | (parts ? (uintptr_t)stride_of(m) * dtype_size(m.dtype) : 0) | 256;
    return (uint32_t)(bits & (~bits + 1));
}

int64_t product_divisor(const struct cuda_context *c, const struct matmul *m)
{
    bool is_gradient = m->a_transposed && !m->b_transposed && m->epilogue == CUBLASLT_EPILOGUE_DEFAULT;
    return is_gradient
               ? product_parts(m->c.rows, m->c.cols, m->a.rows, c->product_workspace, c->multiprocessors)
               : 0;
}

cublasStatus_t product_ask(const struct cuda_context *c, const struct matmul *m, int64_t parts, int most,
                           struct way *ways, int *count)
{
    const struct matmul one = parts ? part_of(c, m, parts) : *m;
    cublasLtMatmulHeuristicResult_t found[PRODUCT_ALGORITHMS];
    struct problem p;
    int answers = 0;
    cublasStatus_t s = describe(&p, &one, parts, parts ? 0 : (uint64_t)c->product_workspace);
    if (!s)
        s = cublasLtMatmulAlgoGetHeuristic(c->blas_lt, &p.operation, &p.first, &p.second, &p.result,
                                           &p.result, &p.preference, most, found, &answers);
    for (int i = 0; i < answers && !s; i++)
        if (!found[i].state)
            ways[(*count)++] = {found[i].algo, parts};
    return s;
}

cublasStatus_t product_call(const struct cuda_context *c, const struct matmul *m, const struct way &w)
{
    const struct matmul one = w.parts ? part_of(c, m, w.parts) : *m;
    const size_t workspace = w.parts ? 0 : (size_t)c->product_workspace;
    const float alpha = 1, beta = one.c.acc ? 1 : 0;
    struct problem p;
    cublasStatus_t s = describe(&p, &one, w.parts, workspace);
    return s ? s
             : cublasLtMatmul(c->blas_lt, &p.operation, &alpha, one.b.data, &p.first, one.a.data, &p.second,
                              &beta, one.c.data, &p.result, one.c.data, &p.result, &w.algorithm,
                              workspace ? c->workspace : NULL, workspace, c->stream);
}

cuda_status product_queue(const struct call &call, const struct matmul *m, const struct way &w)
{
    cublasStatus_t s = product_call(context_of(call), m, w);
    return s || !w.parts ? cuda_status(s) : add_parts(call, m, w.parts);
}

bool product_is_line(const struct matmul *m)
{
    return (m->c.rows == 1 || m->c.cols == 1) && m->epilogue == CUBLASLT_EPILOGUE_DEFAULT;
}

cuda_status product_line(const struct call &call, const struct matmul *m)
{
    if (m->a.dtype == F32)
        return run_line<float, float>(call, m);
    return m->c.dtype == F32 ? run_line<float, bf16>(call, m) : run_line<bf16, bf16>(call, m);
}

cuda_status product_load(const struct call &call, const struct matmul *m)
{
    int64_t parts = product_divisor(context_of(call), m);
    cuda_status status = parts ? add_parts(call, m, parts) : cuda_status(cudaSuccess);
    return status.fault || !product_is_line(m) ? status : product_line(call, m);
}
