/*
 * The variant "cusparse" of aggregation: y (+)= self x + A x, with the product by cusparseSpMM.
 *
 * The library needs a value per edge, here 1, and row offsets of the same size as its 32-bit column indices;
 * every call creates both in scratch, which costs E + N writes that our own kernel does not need. y is
 * initialised before the product accumulates into it. CUSPARSE_SPMM_CSR_ALG3 is the deterministic algorithm;
 * the library reports its buffer size only on a device, so a plan without one omits it.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/plan.h"

/* y (+)= A x + self x, with A given by lists of edges. */
struct aggregation {
    struct mat y, x, row, col;
    double self;
};

/* Descriptors of the product for cuSPARSE. */
struct product {
    cusparseConstSpMatDescr_t a;
    cusparseConstDnMatDescr_t x;
    cusparseDnMatDescr_t y;
    float beta; /* 1 if y has contents to accumulate to */
};

static bool starts(const struct aggregation *g)
{
    return g->self != 0 || (g->col.rows == 0 && !g->y.acc);
}

/* `row` and `ones` are N + 1 32-bit offsets and E values; size queries accept any addresses. */
static struct product open_product(const struct aggregation *g, const void *row, const void *ones,
                                   const struct mat &y, const struct mat &x, const void *col)
{
    struct product p = {NULL, NULL, NULL, g->self != 0 || g->y.acc ? 1.0f : 0.0f};
    CUDA_CHECK(cusparseCreateConstCsr(&p.a, y.rows, x.rows, g->col.rows, row, col, ones, CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CUDA_CHECK(cusparseCreateConstDnMat(&p.x, x.rows, x.cols, x.ld, x.data, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CUDA_CHECK(cusparseCreateDnMat(&p.y, y.rows, y.cols, y.ld, y.data, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    return p;
}

static void close_product(struct product p)
{
    CUDA_CHECK(cusparseDestroySpMat(p.a));
    CUDA_CHECK(cusparseDestroyDnMat(p.x));
    CUDA_CHECK(cusparseDestroyDnMat(p.y));
}

static int64_t own_bytes(const struct aggregation *g)
{
    return scratch_bytes(g->y.rows + 1, sizeof(int32_t)) + scratch_bytes(g->col.rows, sizeof(float));
}

static int64_t space_of(const struct cuda_context *context, const struct aggregation *g)
{
    static const float one = 1;
    void *const somewhere = (void *)(uintptr_t)SCRATCH_ALIGNMENT; /* null would be rejected */
    struct mat y = g->y, x = g->x;
    size_t bytes = 0;
    y.data = x.data = somewhere;
    struct product p = open_product(g, somewhere, somewhere, y, x, somewhere);
    CUDA_CHECK(cusparseSpMM_bufferSize(context->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                       CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p.a, p.x, &p.beta, p.y,
                                       CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, &bytes));
    close_product(p);
    return (int64_t)bytes;
}

static int64_t scratch_of(const struct call *call, const struct aggregation *g)
{
    const struct cuda_context *context = (const struct cuda_context *)call->context;
    bool asks = context && g->col.rows > 0 && g->col.rows <= INT32_MAX;
    return own_bytes(g) + (asks ? space_of(context, g) : 0);
}

static __global__ void prepare(int64_t nodes, int64_t edges, const int64_t *__restrict__ row, int32_t *row32,
                               float *ones)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i <= nodes || i < edges; i += stride) {
        if (i <= nodes)
            row32[i] = (int32_t)row[i];
        if (i < edges)
            ones[i] = 1;
    }
}

/* y (+)= self x. */
struct start_entries {
    struct mat y, x;
    float self;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> value = same<V>(0);
        if (self != 0)
            value = load<V>(entry(x, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            value.at[v] *= self;
        put(entry(y, i, k), y.acc, value);
    }
};

static cudaError_t run_start(const struct call &call, const struct aggregation *g)
{
    const struct mat all[] = {g->y, g->x};
    struct lines l = lines_of(all, 2);
    const start_entries f = {lines_view(l, g->y), lines_view(l, g->x), (float)g->self};
    return run_entries(call, l, f);
}

static void run_product(const struct call &call, const struct aggregation *g)
{
    static const float one = 1;
    enum { THREADS = 256 };
    const struct cuda_context *context = (const struct cuda_context *)call.context;
    int64_t nodes = g->y.rows, edges = g->col.rows;
    int32_t *row = (int32_t *)call.scratch;
    char *ones = (char *)call.scratch + scratch_bytes(nodes + 1, sizeof *row);
    struct launch l =
        launch_of(min_of(blocks_of(max_of(nodes + 1, edges), THREADS), LAUNCH_MAX_X), 1, THREADS);
    CUDA_REQUIRE(edges <= INT32_MAX, "cuSPARSE's indices allow at most 2^31 - 1 edges");
    CUDA_CHECK(run(call, l, prepare, nodes, edges, (const int64_t *)g->row.data, row, (float *)ones));
    struct product p = open_product(g, row, ones, g->y, g->x, g->col.data);
    CUDA_CHECK(cusparseSpMM(context->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
                            CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p.a, p.x, &p.beta, p.y, CUDA_R_32F,
                            CUSPARSE_SPMM_CSR_ALG3, (char *)call.scratch + own_bytes(g)));
    close_product(p);
}

static void aggregate(const struct call &call, const struct aggregation *g)
{
    if (starts(g))
        CUDA_CHECK(run_start(call, g));
    if (g->col.rows > 0)
        run_product(call, g);
}

static struct aggregation forward_of(const struct spmm_args *a)
{
    return {a->y, a->x, a->adj.row, a->adj.col, a->self};
}

static struct aggregation backward_of(const struct spmm_backward_args *a)
{
    return {a->dx, a->dy, a->adj.out_row, a->adj.out_col, a->self};
}

extern "C" void cuda_spmm_cusparse(const void *args)
{
    const struct spmm_args *a = (const struct spmm_args *)args;
    const struct aggregation g = forward_of(a);
    aggregate(a->call, &g);
}

extern "C" int64_t cuda_spmm_cusparse_scratch(const void *args)
{
    const struct spmm_args *a = (const struct spmm_args *)args;
    const struct aggregation g = forward_of(a);
    return scratch_of(&a->call, &g);
}

extern "C" void cuda_spmm_backward_cusparse(const void *args)
{
    const struct spmm_backward_args *a = (const struct spmm_backward_args *)args;
    const struct aggregation g = backward_of(a);
    aggregate(a->call, &g);
}

extern "C" int64_t cuda_spmm_backward_cusparse_scratch(const void *args)
{
    const struct spmm_backward_args *a = (const struct spmm_backward_args *)args;
    const struct aggregation g = backward_of(a);
    return scratch_of(&a->call, &g);
}
