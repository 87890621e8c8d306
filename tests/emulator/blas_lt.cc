/*
 * cublasLt: descriptors in the callers' opaque structs, the heuristic, and products in float, TF32 and BF16
 * with epilogues, of the types in the table of "cublasLtMatmul()".
 *
 * What the library refuses is not documented, so callers must be able to do without. Here it has no epilogue
 * for a number of rows (columns, for a caller with row-major matrices) that is not a multiple of 4, and calls
 * it an invalid value if that is odd; no product with one row or column whose depth is no multiple of 4; and
 * no algorithm that splits an odd depth: so both paths of each are tested.
 *
 * The heuristic names up to three algorithms, with 1, 2 and 4 partial sums in the workspace. With partial
 * sums an epilogue adds a bias to what was rounded to the type of the result. GTMARK_EMULATED_FASTEST=N lets
 * all but the N-th seem to take longer by a second, and the N-th by half of one.
 */
#include "kernels/mat.h"
#include "tests/emulator/emulator.h"

#include <cmath>
#include <cstdlib>
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
    int64_t ld, stride;
    cudaDataType type;
    int32_t count;
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
    uint32_t alignment[4], split, number;
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
    return (size_t)((l->count - 1) * l->stride + (int64_t)(l->cols - 1) * l->ld + (int64_t)l->rows) *
           element(l);
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
static void finish(const struct gemm *g, const struct operation *o, void *to, const struct layout *l,
                   uint32_t split)
{
    for (int64_t j = 0; j < g->cols; j++)
        for (int64_t i = 0; i < g->rows; i++) {
            float c = g->c[i + j * g->ldc];
            if (split > 1 && l->type == CUDA_R_16BF)
                c = float_of_bf16(bf16_of_float(c));
            c += has_bias(o->epilogue) ? read_entry(o->bias, i, l) : 0;
            write_entry(to, i + j * g->ldc, l, activated(o->epilogue, c));
        }
}

/* Computes parts of the depth into the workspace, and c from their sums. */
static void run_split(const struct gemm *g, uint32_t split, float *partial)
{
    const int64_t size = g->rows * g->cols;
    for (int64_t s = 0; s < split; s++) {
        struct gemm part = *g;
        int64_t from = g->inner * s / split;
        part.inner = g->inner * (s + 1) / split - from;
        part.a += g->a_transposed ? from : from * g->lda;
        part.b += g->b_transposed ? from * g->ldb : from;
        part.beta = 0;
        part.c = partial + s * size;
        part.ldc = g->rows;
        gemm_run(&part);
    }
    for (int64_t n = 0; n < size; n++) {
        float sum = 0, *c = &g->c[n / g->rows * g->ldc + n % g->rows];
        for (int64_t s = 0; s < split; s++)
            sum += partial[s * size + n];
        *c = sum + (g->beta != 0 ? g->beta * *c : 0);
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

static uint32_t fastest(void)
{
    const char *number = getenv("GTMARK_EMULATED_FASTEST");
    return number ? (uint32_t)atoi(number) : 0;
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
    const struct layout l = {rows, cols, ld, 0, type, 1};
    memcpy(to, &l, sizeof l);
    return type == CUDA_R_32F || type == CUDA_R_16BF ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, const void *value,
                                                size_t size)
{
    struct layout *l = (struct layout *)layout;
    switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        return take(&l->count, sizeof l->count, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        return take(&l->stride, sizeof l->stride, value, size);
    default:
        emulator_fail("attribute %d of a layout is not emulated", (int)which);
    }
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

static uint64_t depth_of(const struct operation *o, const struct layout *first)
{
    return o->a_transposed == CUBLAS_OP_T ? first->rows : first->cols;
}

/* What it has no algorithm for, and as what it says so. */
static cublasStatus_t refusal(const struct operation *o, const struct layout *first,
                              const struct layout *second, const struct layout *result)
{
    bool narrow = first->type == CUDA_R_16BF;
    if (first->type != second->type || (narrow ? o->tf32 : result->type == CUDA_R_16BF))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if ((result->rows == 1 || result->cols == 1) && depth_of(o, first) % 4)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (o->epilogue != CUBLASLT_EPILOGUE_DEFAULT && result->rows % 4)
        return result->rows % 2 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatrixLayout_t first, cublasLtMatrixLayout_t second,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t result,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t *found, int *count)
{
    const struct operation *o = (const struct operation *)descriptor;
    const struct layout *l = (const struct layout *)result, *a = (const struct layout *)first;
    const struct preference *p = (const struct preference *)preference;
    *count = 0;
    if (p->schemes & CUBLASLT_REDUCTION_SCHEME_INPLACE)
        emulator_fail("a product may accumulate in place: its bits would change from run to run");
    cublasStatus_t refused = refusal(o, a, (const struct layout *)second, l);
    if (refused != CUBLAS_STATUS_SUCCESS)
        return refused;
    for (uint32_t split = 1; split <= 4 && *count < wanted; split *= 2) {
        uint64_t depth = depth_of(o, a), bytes = split > 1 ? split * l->rows * l->cols * sizeof(float) : 0;
        bool splits = p->schemes & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE && depth % 2 == 0;
        if (bytes > p->workspace || (split > 1 && (!splits || depth < split || l->count > 1)))
            continue;
        struct algorithm one = {bytes, {}, split, l->count > 1 ? 9 : (uint32_t)*count + 1};
        memcpy(one.alignment, p->alignment, sizeof one.alignment);
        memcpy(&found[*count].algo, &one, sizeof one);
        found[*count].workspaceSize = bytes;
        found[(*count)++].state = CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t which, void *value,
                                                    size_t size, size_t *written)
{
    const uint32_t splits = ((const struct algorithm *)algorithm)->split;
    const uint32_t split = which == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? splits : 0;
    *written = sizeof split;
    return take(value, size, &split, sizeof split);
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
    if (la->count != lb->count || la->count != lc->count || la->count != ld->count)
        return CUBLAS_STATUS_INVALID_VALUE;
    const size_t code = 16 << 20;
    if (memory_load((const void *)cublasLtMatmul, code) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    expect_addresses(addresses, layouts, algorithm, current_device());
    if ((uintptr_t)workspace % 256 || workspace_bytes < algorithm->workspace)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (workspace_bytes)
        memory_expect(current_device(), workspace, workspace_bytes, "the workspace of a product");
    bool sums = o.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    if (sums || has_bias(o.epilogue))
        memory_expect(current_device(), o.bias, (sums ? cols : rows) * element(ld), "a bias");
    const float scale = *(const float *)alpha, more = *(const float *)beta;
    const struct layout of_a = *la, of_b = *lb, of_d = *ld;
    const struct algorithm chosen_one = *algorithm;
    stream_queue(stream, [=] {
        if (workspace_bytes)
            memory_spoil(workspace, workspace_bytes);
        std::vector<float> x = widened(a, &of_a), y = widened(b, &of_b), z = widened(d, &of_d);
        for (int32_t i = 0; i < of_d.count; i++) {
            const struct gemm g = {ta,
                                   tb,
                                   (int64_t)rows,
                                   (int64_t)cols,
                                   (int64_t)inner,
                                   scale,
                                   more,
                                   x.data() + i * of_a.stride,
                                   y.data() + i * of_b.stride,
                                   z.data() + i * of_d.stride,
                                   of_a.ld,
                                   of_b.ld,
                                   of_d.ld,
                                   o.tf32 ? to_tf32 : same,
                                   o.tf32 || of_a.type == CUDA_R_16BF};
            if (chosen_one.split > 1)
                run_split(&g, chosen_one.split, (float *)workspace);
            else
                gemm_run(&g);
            finish(&g, &o, (char *)d + (size_t)(i * of_d.stride) * element(&of_d), &of_d, chosen_one.split);
            if (o.epilogue == CUBLASLT_EPILOGUE_BGRADB)
                store_sums(&g, &o, &of_d);
        }
        if (fastest())
            stream_pause(chosen_one.number == fastest() ? 0.5 : 1);
    });
    return CUBLAS_STATUS_SUCCESS;
}
}
