/*
 * cublasLt: descriptors in the callers' opaque structs, the heuristic, and products in float, TF32 and BF16
 * with epilogues, of the types in the table of "cublasLtMatmul()".
 *
 * Whether a product has an algorithm with a fused activation is not documented, so callers must be able to do
 * without. Here a number of rows (columns, for a caller with row-major matrices) that is not a multiple of 4
 * has none, so that both paths are tested.
 */
#include "kernels/mat.h"
#include "tests/emulator/emulator.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <cublasLt.h>

struct cublasLtContext {
    int device;
};

namespace
{
struct layout {
    uint64_t rows, cols;
    int64_t ld;
    cudaDataType type;
};

struct operation {
    void *bias; /* of the type of the result */
    uint32_t epilogue;
    int32_t a_transposed, b_transposed;
    bool tf32;
};

/*
 * What the caller declares about the alignment of a, b, c and d; the chosen algorithm contains nothing else.
 */
struct preference {
    uint64_t workspace;
    uint32_t schemes, alignment[4];
};

struct algorithm {
    uint64_t workspace;
    uint32_t alignment[4];
};
} // namespace

static_assert(sizeof(layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "fits the caller's");
static_assert(sizeof(operation) <= sizeof(cublasLtMatmulDescOpaque_t), "fits the caller's");
static_assert(sizeof(preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t), "fits the caller's");
static_assert(sizeof(algorithm) <= sizeof(cublasLtMatmulAlgo_t), "fits the caller's");

static float same(float x)
{
    return x;
}

/* Rounds to 10 mantissa bits, ties away from zero. */
static float to_tf32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000) & ~UINT32_C(0x1fff);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float activated(uint32_t epilogue, float x)
{
    if (epilogue == CUBLASLT_EPILOGUE_RELU || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS)
        return x > 0 ? x : 0;
    if (epilogue == CUBLASLT_EPILOGUE_GELU ||
        epilogue == CUBLASLT_EPILOGUE_GELU_BIAS) /* by tanh, as documented */
        return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    return x;
}

static bool has_bias(uint32_t epilogue)
{
    return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
           epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
}

static size_t element(const struct layout *l)
{
    return l->type == CUDA_R_16BF ? sizeof(uint16_t) : sizeof(float);
}

static size_t bytes_of(const struct layout *l)
{
    return (size_t)((int64_t)(l->cols - 1) * l->ld + (int64_t)l->rows) * element(l);
}

static float read_entry(const void *from, int64_t at, const struct layout *l)
{
    return l->type == CUDA_R_16BF ? float_of_bf16(((const uint16_t *)from)[at]) : ((const float *)from)[at];
}

static void write_entry(void *to, int64_t at, const struct layout *l, float x)
{
    if (l->type == CUDA_R_16BF)
        ((uint16_t *)to)[at] = bf16_of_float(x);
    else
        ((float *)to)[at] = x;
}

/* A matrix as floats. */
static std::vector<float> widened(const void *from, const struct layout *l)
{
    std::vector<float> to(bytes_of(l) / element(l));
    for (size_t i = 0; i < to.size(); i++)
        to[i] = read_entry(from, (int64_t)i, l);
    return to;
}

/* Adds a bias per row of the column-major result, and writes it. */
static void finish(const struct gemm *g, const struct operation *o, void *to, const struct layout *l)
{
    for (int64_t j = 0; j < g->cols; j++)
        for (int64_t i = 0; i < g->rows; i++) {
            float c = g->c[i + j * g->ldc] + (has_bias(o->epilogue) ? read_entry(o->bias, i, l) : 0);
            write_entry(to, i + j * g->ldc, l, activated(o->epilogue, c));
        }
}

/* BGRADB: "the bias size corresponds to the number of columns of the matrix D; the reduction happens over the
 * GEMM's k dimension". */
static void store_sums(const struct gemm *g, const struct operation *o, const struct layout *l)
{
    for (int64_t j = 0; j < g->cols; j++) {
        double sum = 0;
        for (int64_t k = 0; k < g->inner; k++)
            sum += (double)(g->b_transposed ? g->b[j + k * g->ldb] : g->b[k + j * g->ldb]);
        write_entry(o->bias, j, l, (float)sum);
    }
}

static cublasStatus_t take(void *to, size_t size, const void *from, size_t given)
{
    if (given != size)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, from, size);
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

size_t cublasLtGetVersion(void)
{
    return 0;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = new cublasLtContext{current_device()};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t to, size_t, cudaDataType type,
                                                 uint64_t rows, uint64_t cols, int64_t ld)
{
    const struct layout l = {rows, cols, ld, type};
    memcpy(to, &l, sizeof l);
    return type == CUDA_R_32F || type == CUDA_R_16BF ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t to, size_t, cublasComputeType_t compute,
                                               cudaDataType scale)
{
    const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const struct operation o = {NULL, CUBLASLT_EPILOGUE_DEFAULT, CUBLAS_OP_N, CUBLAS_OP_N, tf32};
    memcpy(to, &o, sizeof o);
    return scale == CUDA_R_32F && (tf32 || compute == CUBLAS_COMPUTE_32F) ? CUBLAS_STATUS_SUCCESS
                                                                          : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t which, const void *value,
                                              size_t size)
{
    struct operation *o = (struct operation *)descriptor;
    switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return take(&o->a_transposed, sizeof o->a_transposed, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return take(&o->b_transposed, sizeof o->b_transposed, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return take(&o->epilogue, sizeof o->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return take(&o->bias, sizeof o->bias, value, size);
    default:
        emulator_fail("attribute %d of a product is not emulated", (int)which);
    }
}

static cudaDataType type_of(cublasLtMatrixLayout_t l)
{
    return ((const struct layout *)l)->type;
}

/* Defaults as documented. */
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t to, size_t)
{
    const struct preference p = {0, CUBLASLT_REDUCTION_SCHEME_MASK, {256, 256, 256, 256}};
    memcpy(to, &p, sizeof p);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void *value, size_t size)
{
    struct preference *p = (struct preference *)preference;
    switch (which) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return take(&p->workspace, sizeof p->workspace, value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        return take(&p->schemes, sizeof p->schemes, value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
        return take(&p->alignment[0], sizeof p->alignment[0], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
        return take(&p->alignment[1], sizeof p->alignment[1], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
        return take(&p->alignment[2], sizeof p->alignment[2], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return take(&p->alignment[3], sizeof p->alignment[3], value, size);
    default:
        emulator_fail("preference %d of a product is not emulated", (int)which);
    }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatrixLayout_t first, cublasLtMatrixLayout_t second,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t result,
                                              cublasLtMatmulPreference_t preference, int,
                                              cublasLtMatmulHeuristicResult_t *found, int *count)
{
    const struct operation *o = (const struct operation *)descriptor;
    const struct layout *l = (const struct layout *)result;
    bool narrow = type_of(first) == CUDA_R_16BF;
    const struct preference *p = (const struct preference *)preference;
    bool fuses = l->rows % 4 == 0;
    *count = 0;
    if (p->schemes & CUBLASLT_REDUCTION_SCHEME_INPLACE)
        emulator_fail("a product may accumulate in place: its bits would change from run to run");
    if (type_of(first) != type_of(second) || (narrow ? o->tf32 : l->type == CUDA_R_16BF))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (o->epilogue != CUBLASLT_EPILOGUE_DEFAULT && !fuses)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    struct algorithm a = {p->workspace, {}};
    memcpy(a.alignment, p->alignment, sizeof a.alignment);
    memcpy(&found->algo, &a, sizeof a);
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

static void expect_addresses(const void *const address[4], const struct layout *const layouts[4],
                             const struct algorithm *algorithm, int device)
{
    for (int i = 0; i < 4; i++) {
        memory_expect(device, address[i], bytes_of(layouts[i]), "a product by cublasLt");
        if ((uintptr_t)address[i] % algorithm->alignment[i])
            emulator_fail("matrix %d of a product does not have the declared alignment", i);
    }
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t descriptor, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                              cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *chosen, void *workspace, size_t workspace_bytes,
                              cudaStream_t stream)
{
    const struct operation o = *(const struct operation *)descriptor;
    const struct layout *la = (const struct layout *)a_layout, *lb = (const struct layout *)b_layout;
    const struct layout *lc = (const struct layout *)c_layout, *ld = (const struct layout *)d_layout;
    const struct layout *const layouts[4] = {la, lb, lc, ld};
    const void *const addresses[4] = {a, b, c, d};
    const struct algorithm *algorithm = (const struct algorithm *)chosen;
    bool ta = o.a_transposed == CUBLAS_OP_T, tb = o.b_transposed == CUBLAS_OP_T;
    uint64_t rows = ta ? la->cols : la->rows, inner = ta ? la->rows : la->cols,
             cols = tb ? lb->rows : lb->cols;
    if (inner != (tb ? lb->cols : lb->rows) || rows != ld->rows || cols != ld->cols || !rows || !cols ||
        !inner)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (const struct layout *l : layouts)
        if (l->ld < (int64_t)l->rows)
            return CUBLAS_STATUS_INVALID_VALUE;
    if (c != d || ((cublasLtContext *)handle)->device != current_device())
        emulator_fail("a product by cublasLt on a device other than the context's, or not in place");
    const size_t code = 16 << 20;
    if (memory_load((const void *)cublasLtMatmul, code) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    expect_addresses(addresses, layouts, algorithm, current_device());
    if ((uintptr_t)workspace % 256 || workspace_bytes < algorithm->workspace)
        return CUBLAS_STATUS_INVALID_VALUE;
    memory_expect(current_device(), workspace, workspace_bytes, "the workspace of a product");
    bool sums = o.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    if (sums || has_bias(o.epilogue))
        memory_expect(current_device(), o.bias, (sums ? cols : rows) * element(ld), "a bias");
    const float scale = *(const float *)alpha, more = *(const float *)beta;
    const struct layout of_a = *la, of_b = *lb, of_d = *ld;
    stream_queue(stream, [=] {
        memory_spoil(workspace, workspace_bytes);
        std::vector<float> x = widened(a, &of_a), y = widened(b, &of_b), z = widened(d, &of_d);
        const struct gemm g = {ta,
                               tb,
                               (int64_t)rows,
                               (int64_t)cols,
                               (int64_t)inner,
                               scale,
                               more,
                               x.data(),
                               y.data(),
                               z.data(),
                               of_a.ld,
                               of_b.ld,
                               of_d.ld,
                               o.tf32 ? to_tf32 : same};
        gemm_run(&g);
        finish(&g, &o, d, &of_d);
        if (sums)
            store_sums(&g, &o, &of_d);
    });
    return CUBLAS_STATUS_SUCCESS;
}
}
