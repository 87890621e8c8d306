/*
 * The variant "cusparse" of aggregation: y (+)= self x + A x, with the product by cusparseSpMM.
 *
 * The library needs a value per edge, here 1, and row offsets of the same size as its 32-bit column indices.
 * Both, and what the library computes from the graph in advance (cusparseSpMM_preprocess), are prepared once
 * and stay in the scratch buffer; the context keeps the library's descriptor, found by the buffer's address.
 * y is initialised before the product accumulates into it. CUSPARSE_SPMM_CSR_ALG3 is the deterministic
 * algorithm; the library reports its buffer size only on a device, so a plan without one omits it.
 *
 * The library writes between rows of y that are apart (seen with CUDA 13.0 on an H100), where other matrices
 * may be. Such a y is computed in the scratch buffer, and added from there.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"

namespace
{
/* y (+)= A x + self x, with A given by lists of edges. */
struct aggregation {
    struct mat y, x, row, col;
    double self;
};

bool rows_apart(struct mat y)
{
    return y.rows > 1 && y.ld != y.cols;
}

/* A product whose y has its rows one after the other, and the call with the scratch buffer that is left for
 * it. */
struct packed {
    struct call call;
    struct aggregation g;
};

struct packed packed_of(const struct call &call, const struct aggregation &g)
{
    struct packed p = {call, g};
    if (!rows_apart(g.y))
        return p;
    p.g.y = scratch_mat(call, 0, g.y.rows, g.y.cols);
    p.call.scratch = scratch_at(call, scratch_bytes(g.y.rows * g.y.cols, sizeof(float)));
    return p;
}

/* Parts of the scratch buffer: N + 1 32-bit offsets, E values, and the library's buffer. */
struct parts {
    int32_t *row;
    float *ones;
    void *buffer;
};

struct parts parts_at(const struct call &call, const struct aggregation &g)
{
    int64_t ones = scratch_bytes(g.y.rows + 1, sizeof(int32_t));
    int64_t buffer = ones + scratch_bytes(g.col.rows, sizeof(float));
    return {(int32_t *)call.scratch, (float *)scratch_at(call, ones), scratch_at(call, buffer)};
}

/* Descriptors of the product's dense matrices. */
struct dense {
    cusparseConstDnMatDescr_t x;
    cusparseDnMatDescr_t y;
    float beta; /* 1 if y has contents to accumulate to */
};

cusparseStatus_t open_dense(struct dense *d, const struct aggregation &g)
{
    *d = {NULL, NULL, g.self != 0 || g.y.acc ? 1.0f : 0.0f};
    cusparseStatus_t status =
        cusparseCreateConstDnMat(&d->x, g.x.rows, g.x.cols, g.x.ld, g.x.data, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    return status ? status
                  : cusparseCreateDnMat(&d->y, g.y.rows, g.y.cols, g.y.ld, g.y.data, CUDA_R_32F,
                                        CUSPARSE_ORDER_ROW);
}

void close_dense(struct dense d)
{
    if (d.x)
        cusparseDestroyDnMat(d.x);
    if (d.y)
        cusparseDestroyDnMat(d.y);
}

cusparseStatus_t open_csr(cusparseConstSpMatDescr_t *a, const struct aggregation &g, struct parts p)
{
    return cusparseCreateConstCsr(a, g.y.rows, g.x.rows, g.col.rows, p.row, g.col.data, p.ones,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                  CUDA_R_32F);
}

/* Calls cusparseSpMM, or cusparseSpMM_preprocess or _bufferSize, which differ in the last parameter. */
template <class Function, class Last>
cusparseStatus_t product(Function function, const struct cuda_context *c, const struct aggregation &g,
                         cusparseConstSpMatDescr_t a, Last last)
{
    static const float one = 1;
    struct dense d;
    CUDA_REQUIRE(c->stream == c->streams[0], "cuSPARSE's handle is not of this stream");
    cusparseStatus_t status = open_dense(&d, g);
    if (!status)
        status = function(c->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                          a, d.x, &d.beta, d.y, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3, last);
    close_dense(d);
    return status;
}

/* The size of the library's buffer. The query accepts any addresses except null. */
cusparseStatus_t buffer_bytes(const struct cuda_context *c, struct aggregation g, size_t *bytes)
{
    void *const somewhere = (void *)(uintptr_t)SCRATCH_ALIGNMENT;
    cusparseConstSpMatDescr_t a = NULL;
    g.y.data = g.x.data = g.col.data = somewhere;
    cusparseStatus_t status = open_csr(&a, g, {(int32_t *)somewhere, (float *)somewhere, NULL});
    if (!status)
        status = product(cusparseSpMM_bufferSize, c, g, a, bytes);
    if (a)
        cusparseDestroySpMat(a);
    return status;
}

int64_t scratch_of(const struct call &call, struct aggregation g)
{
    size_t bytes = 0;
    int64_t packed = rows_apart(g.y) ? scratch_bytes(g.y.rows * g.y.cols, sizeof(float)) : 0;
    g.y.ld = g.y.cols;
    if (call.context && g.col.rows > 0 && g.col.rows <= INT32_MAX)
        CUDA_CHECK(call, buffer_bytes(context_of(call), g, &bytes));
    return packed + scratch_bytes(g.y.rows + 1, sizeof(int32_t)) + scratch_bytes(g.col.rows, sizeof(float)) +
           (int64_t)bytes;
}

__global__ void __launch_bounds__(BLOCK, 1)
    narrow(int64_t nodes, int64_t edges, const int64_t *__restrict__ row, int32_t *row32, float *ones)
{
    int64_t stride = (int64_t)gridDim.x * BLOCK;
    for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i <= nodes || i < edges; i += stride) {
        if (i <= nodes)
            row32[i] = (int32_t)row[i];
        if (i < edges)
            ones[i] = 1;
    }
}

/* The matrix that was prepared in this scratch buffer; null: none. */
struct cuda_csr *matrix_at(const struct call &call)
{
    struct cuda_csr *m = context_of(call)->matrices;
    while (m && m->scratch != call.scratch)
        m = m->next;
    return m;
}

/* A place for the matrix, empty: what was there belongs to a buffer that was freed, or is prepared again. */
struct cuda_csr *new_matrix(const struct call &call)
{
    struct cuda_context *c = context_of(call);
    struct cuda_csr *m = matrix_at(call);
    if (m) {
        if (m->matrix)
            cusparseDestroySpMat(m->matrix);
        m->matrix = NULL;
        return m;
    }
    m = (struct cuda_csr *)calloc(1, sizeof *m);
    if (!m)
        abort();
    *m = {call.scratch, NULL, c->matrices};
    return c->matrices = m;
}

cuda_status prepare(const struct call &call, const struct aggregation &g)
{
    int64_t nodes = g.y.rows, edges = g.col.rows;
    struct parts p = parts_at(call, g);
    CUDA_REQUIRE(edges <= INT32_MAX, "cuSPARSE's indices allow at most 2^31 - 1 edges");
    if (edges == 0)
        return cudaSuccess;
    cuda_status status = run(call, launch_blocks(blocks_of(max_of(nodes + 1, edges), BLOCK), 1), narrow,
                             nodes, edges, (const int64_t *)g.row.data, p.row, p.ones);
    if (status.fault || cuda_is_idle(context_of(call)))
        return status;
    struct cuda_csr *m = new_matrix(call);
    status = open_csr(&m->matrix, g, p);
    return status.fault ? status : product(cusparseSpMM_preprocess, context_of(call), g, m->matrix, p.buffer);
}

/* y (+)= self x. */
struct start_entries {
    struct mat y, x;
    float self;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        put(entry(y, i, k), y.acc, self != 0 ? load<V>(entry(x, i, k)) * self : same<V>(0));
    }
};

cuda_status start_rows(const struct call &call, struct mat y, struct mat x, double self)
{
    const struct mat all[] = {y, x};
    struct lines l = lines_of(all, 2);
    const start_entries f = {lines_view(l, y), lines_view(l, x), (float)self};
    return run_entries(call, l, f);
}

/* Rows of y without one of x begin with zero. */
cuda_status start(const struct call &call, const struct aggregation &g)
{
    struct mat y = g.y, x = g.x, rest = g.y;
    y.rows = x.rows = g.y.rows < g.x.rows ? g.y.rows : g.x.rows;
    cuda_status status = start_rows(call, y, x, g.self);
    rest.rows -= y.rows;
    if (status.fault || rest.rows == 0 || rest.acc)
        return status;
    rest.data = (float *)rest.data + y.rows * rest.ld;
    return start_rows(call, rest, rest, 0);
}

cuda_status aggregate(const struct call &call, const struct aggregation &g)
{
    cuda_status status = cudaSuccess;
    if (g.self != 0 || (g.col.rows == 0 && !g.y.acc))
        status = start(call, g);
    if (g.col.rows == 0 || status.fault || cuda_is_idle(context_of(call)))
        return status;
    const struct cuda_csr *m = matrix_at(call);
    CUDA_REQUIRE(m, "the graph was not prepared");
    return product(cusparseSpMM, context_of(call), g, m->matrix, parts_at(call, g).buffer);
}

cuda_status prepare_packed(const struct call &call, const struct aggregation &g)
{
    struct packed p = packed_of(call, g);
    return prepare(p.call, p.g);
}

cuda_status aggregate_packed(const struct call &call, const struct aggregation &g)
{
    struct packed p = packed_of(call, g);
    cuda_status status = aggregate(p.call, p.g);
    return status.fault || !rows_apart(g.y) ? status : start_rows(call, g.y, p.g.y, 1);
}

struct aggregation forward_of(const struct spmm_args *a)
{
    return {a->y, a->x, a->adj.row, a->adj.col, a->self};
}

struct aggregation backward_of(const struct spmm_backward_args *a)
{
    return {a->dx, a->dy, a->adj.out_row, a->adj.out_col, a->self};
}
} // namespace

extern "C" void cuda_spmm_cusparse(const void *args)
{
    const struct spmm_args *a = (const struct spmm_args *)args;
    CUDA_CHECK(a->call, aggregate_packed(a->call, forward_of(a)));
}

extern "C" void cuda_spmm_cusparse_prepare(const void *args)
{
    const struct spmm_args *a = (const struct spmm_args *)args;
    CUDA_CHECK(a->call, prepare_packed(a->call, forward_of(a)));
}

extern "C" int64_t cuda_spmm_cusparse_scratch(const void *args)
{
    const struct spmm_args *a = (const struct spmm_args *)args;
    return scratch_of(a->call, forward_of(a));
}

extern "C" void cuda_spmm_backward_cusparse(const void *args)
{
    const struct spmm_backward_args *a = (const struct spmm_backward_args *)args;
    CUDA_CHECK(a->call, aggregate_packed(a->call, backward_of(a)));
}

extern "C" void cuda_spmm_backward_cusparse_prepare(const void *args)
{
    const struct spmm_backward_args *a = (const struct spmm_backward_args *)args;
    CUDA_CHECK(a->call, prepare_packed(a->call, backward_of(a)));
}

extern "C" int64_t cuda_spmm_backward_cusparse_scratch(const void *args)
{
    const struct spmm_backward_args *a = (const struct spmm_backward_args *)args;
    return scratch_of(a->call, backward_of(a));
}
