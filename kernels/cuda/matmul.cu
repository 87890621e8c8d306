/*
 * c (+)= op(a) op(b): choosing and calling an algorithm of cuBLASLt. See matmul.h.
 *
 * Descriptors are on the stack, and the choice is kept, so a call costs the host a few microseconds, and
 * nothing in a captured graph.
 */
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/matmul.h"

namespace
{
/* As the library sees it; of `parts` equal parts of the depth the first, if it is not 0. */
struct problem {
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatrixLayoutOpaque_t first, second, result;
};

int64_t depth_of(const struct matmul *m)
{
    return m->a_transposed ? m->a.rows : m->a.cols;
}

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

/* The alignment of a matrix and of its parts, up to the largest that the library distinguishes. */
uint32_t alignment_of(struct mat m, int64_t parts)
{
    uintptr_t bits = (uintptr_t)m.data | (parts ? (uintptr_t)stride_of(m) * dtype_size(m.dtype) : 0) | 256;
    return (uint32_t)(bits & (~bits + 1));
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
        const uint32_t bytes = alignment_of(of[i], parts);
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

/* --- the ways to compute a product */

/* An algorithm, for the product as a whole, or of a batch of this many parts of its depth. */
struct way {
    cublasLtMatmulAlgo_t algorithm;
    int64_t parts;
};

enum { WAYS_MOST = PRODUCT_ALGORITHMS + 1 };

/* Parts into which the depth of dw may be divided; of other products that is not. */
int64_t parts_of(const struct cuda_context *c, const struct matmul *m)
{
    bool is_gradient = m->a_transposed && !m->b_transposed && m->epilogue == CUBLASLT_EPILOGUE_DEFAULT;
    return is_gradient
               ? product_parts(m->c.rows, m->c.cols, m->a.rows, c->product_workspace, c->multiprocessors)
               : 0;
}

/* One of them, with its result in the workspace. */
struct matmul part_of(const struct cuda_context *c, const struct matmul *m, int64_t parts)
{
    struct matmul part = *m;
    part.a.rows = part.b.rows = m->a.rows / parts;
    part.c = (struct mat){cuda_workspace(c), m->c.rows, m->c.cols, m->c.cols, 0, 0, F32, false};
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
                                  (const float *)cuda_workspace(context_of(call)), parts,
                                  m->a.rows / parts * parts);
}

/* Queues the library's part of a way. */
cublasStatus_t call_library(const struct cuda_context *c, const struct matmul *m, const struct way &w)
{
    const struct matmul one = w.parts ? part_of(c, m, w.parts) : *m;
    const size_t workspace = w.parts ? 0 : (size_t)c->product_workspace;
    const float alpha = 1, beta = one.c.acc ? 1 : 0;
    struct problem p;
    cublasStatus_t s = describe(&p, &one, w.parts, workspace);
    return s ? s
             : cublasLtMatmul(c->blas_lt, &p.operation, &alpha, one.b.data, &p.first, one.a.data, &p.second,
                              &beta, one.c.data, &p.result, one.c.data, &p.result, &w.algorithm,
                              workspace ? cuda_workspace(c) : NULL, workspace, c->stream);
}

cuda_status queue(const struct call &call, const struct matmul *m, const struct way &w)
{
    cublasStatus_t s = call_library(context_of(call), m, w);
    return s || !w.parts ? cuda_status(s) : add_parts(call, m, w.parts);
}

/* Adds the ways that the library's heuristic names, at most `most`. */
cublasStatus_t ask(const struct cuda_context *c, const struct matmul *m, int64_t parts, int most,
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

int configured(const struct way &w, cublasLtMatmulAlgoConfigAttributes_t which)
{
    uint32_t value = 0;
    size_t written = 0;
    return cublasLtMatmulAlgoConfigGetAttribute(&w.algorithm, which, &value, sizeof value, &written)
               ? 0
               : (int)value;
}

bool is_refusal(cublasStatus_t s)
{
    return s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_INVALID_VALUE;
}

/* The status of a way unless that is a refusal: an invalid value is one where there is another way. */
cublasStatus_t unless_refused(const struct matmul *m, int64_t parts, cublasStatus_t s)
{
    bool only = m->epilogue == CUBLASLT_EPILOGUE_DEFAULT && !parts;
    return is_refusal(s) && !(only && s == CUBLAS_STATUS_INVALID_VALUE) ? CUBLAS_STATUS_SUCCESS : s;
}

/* The library's, and one that divides the depth if these do not. */
cublasStatus_t find_ways(const struct cuda_context *c, const struct matmul *m, struct way *ways, int *count)
{
    cublasStatus_t s = ask(c, m, 0, c->product_algorithms, ways, count);
    int64_t parts = *count > 0 && c->product_algorithms > 1 ? parts_of(c, m) : 0;
    for (int i = 0; i < *count; i++)
        parts = configured(ways[i], CUBLASLT_ALGO_CONFIG_SPLITK_NUM) > 1 ? 0 : parts;
    if (s || !parts)
        return unless_refused(m, 0, s);
    return unless_refused(m, parts, ask(c, m, parts, 1, ways, count));
}

/* Calls each way, which loads its code, and removes those that the library refuses now. */
cuda_status try_ways(const struct call &call, const struct matmul *m, struct way *ways, int *count)
{
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        cublasStatus_t s = call_library(context_of(call), m, ways[i]);
        if (unless_refused(m, ways[i].parts, s))
            return s;
        if (!s)
            ways[kept++] = ways[i];
    }
    *count = kept;
    return cudaSuccess;
}

/* --- the choice */

void key_of(const struct matmul *m, int64_t *key)
{
    int64_t types = m->a_transposed | m->b_transposed << 1 | m->tf32 << 2 | m->c.acc << 3 | m->c.dtype << 4 |
                    m->a.dtype << 8;
    int64_t aligned = (int64_t)alignment_of(m->c, 0) | (int64_t)alignment_of(m->a, 0) << 10 |
                      (int64_t)alignment_of(m->b, 0) << 20;
    const int64_t words[CHOICE_WORDS] = {m->c.rows, m->c.cols, depth_of(m), m->c.ld,    m->a.ld,
                                         m->b.ld,   types,     aligned,     m->epilogue};
    memcpy(key, words, sizeof words);
}

const char *epilogue_name(cublasLtEpilogue_t e)
{
    return e == CUBLASLT_EPILOGUE_DEFAULT  ? ""
           : e == CUBLASLT_EPILOGUE_BGRADB ? " with bias gradient"
           : e == CUBLASLT_EPILOGUE_BIAS   ? " with bias"
                                           : " with activation";
}

/* `seconds` of the ways, 0 if they were not timed. */
void describe_choice(struct cuda_choice *to, const struct matmul *m, const struct way *ways, int chosen,
                     int count, const double *seconds)
{
    char what[CHOICE_TEXT / 2] = "refused";
    const struct way &w = ways[chosen];
    if (count > 0 && w.parts)
        snprintf(what, sizeof what, "%d parts", (int)w.parts);
    else if (count > 0)
        snprintf(what, sizeof what, "algorithm %d: id %d, tile %d, stages %d, split %d", chosen + 1,
                 configured(w, CUBLASLT_ALGO_CONFIG_ID), configured(w, CUBLASLT_ALGO_CONFIG_TILE_ID),
                 configured(w, CUBLASLT_ALGO_CONFIG_STAGES_ID),
                 configured(w, CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
    snprintf(to->text, sizeof to->text, "%lld x %lld x %lld %c%c %s%s: %s", (long long)m->c.rows,
             (long long)m->c.cols, (long long)depth_of(m), m->a_transposed ? 't' : 'n',
             m->b_transposed ? 't' : 'n', m->tf32 ? "tf32" : dtype_name(m->a.dtype),
             epilogue_name(m->epilogue), what);
    choice_add_times(to, count, seconds);
}

/* Tries and times the ways, with a result that may be written more than once. */
cuda_status time_ways(const struct call &call, const struct matmul *m, struct way *ways, int *count,
                      double *seconds, int *chosen)
{
    const struct cuda_context *c = context_of(call);
    struct matmul again = *m;
    void *own;
    cuda_status status = choice_result(c, &again.c, &own);
    if (!status.fault && again.c.data)
        status = try_ways(call, &again, ways, count);
    if (!status.fault && again.c.data && *count > 1)
        status = choice_run(
            c, *count, [&](int way) { return queue(call, &again, ways[way]); }, seconds, chosen);
    if (own && !status.fault)
        status = cudaStreamSynchronize(c->stream);
    cudaFree(own);
    return status;
}

/* The choice for this product, made if it is the first time. */
cuda_status choose(const struct call &call, const struct matmul *m, const struct cuda_choice **choice)
{
    struct cuda_context *c = context_of(call);
    struct way ways[WAYS_MOST];
    double seconds[WAYS_MOST] = {};
    int64_t key[CHOICE_WORDS];
    int count = 0, chosen = 0;
    key_of(m, key);
    *choice = choice_find(c, key);
    if (*choice)
        return cudaSuccess;
    cuda_status status = find_ways(c, m, ways, &count);
    if (!status.fault && count > 0 && !c->captures)
        status = time_ways(call, m, ways, &count, seconds, &chosen);
    if (status.fault)
        return status;
    struct cuda_choice *made = choice_add(c, key);
    made->refused = count == 0;
    made->algorithm = ways[chosen].algorithm;
    made->way = ways[chosen].parts;
    describe_choice(made, m, ways, chosen, count, seconds);
    *choice = made;
    return status;
}

/* --- results of one row or column */

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

bool is_line(const struct matmul *m)
{
    return (m->c.rows == 1 || m->c.cols == 1) && m->epilogue == CUBLASLT_EPILOGUE_DEFAULT;
}

template <class C, class T> cuda_status run_line(const struct call &call, const struct matmul *m)
{
    struct launch l = launch_blocks(blocks_of(mat_size(m->c), BLOCK / WARP), 1);
    return run(call, l, line_of_products<C, T>, m->c, factor_of<T>(m->a, m->a_transposed),
               factor_of<T>(m->b, !m->b_transposed), depth_of(m));
}

cuda_status compute_line(const struct call &call, const struct matmul *m)
{
    if (m->a.dtype == F32)
        return run_line<float, float>(call, m);
    return m->c.dtype == F32 ? run_line<float, bf16>(call, m) : run_line<bf16, bf16>(call, m);
}

/* Loads the kernels that it may need. */
cuda_status load(const struct call &call, const struct matmul *m)
{
    int64_t parts = parts_of(context_of(call), m);
    cuda_status status = parts ? add_parts(call, m, parts) : cuda_status(cudaSuccess);
    return status.fault || !is_line(m) ? status : compute_line(call, m);
}
} // namespace

cuda_status matmul_fuses(const struct call &call, const struct matmul *m, bool *fuses)
{
    const struct cuda_choice *choice;
    *fuses = true;
    if (cuda_is_idle(context_of(call)))
        return cudaSuccess;
    cuda_status status = choose(call, m, &choice);
    *fuses = !status.fault && !choice->refused;
    return status;
}

cuda_status matmul(const struct call &call, const struct matmul *m)
{
    const struct cuda_choice *choice;
    if (context_of(call)->loads)
        return load(call, m);
    if (cuda_is_idle(context_of(call)))
        return cudaSuccess;
    cuda_status status = choose(call, m, &choice);
    if (status.fault)
        return status;
    if (!choice->refused)
        return queue(call, m, {choice->algorithm, choice->way});
    return is_line(m) ? compute_line(call, m) : CUBLAS_STATUS_NOT_SUPPORTED;
}
