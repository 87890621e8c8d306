/*
 * Attention in three steps that store their results: the products; attention_softmax.cu has the step in
 * between. Row h of s, p and their gradients holds the pairs of head h: graph after graph, each an n x n
 * block with a row per query.
 *
 *   s = q k' scale    dq (+)= scale ds k    dk (+)= scale ds' q
 *   y = p v           dp (+)= dy v'         dv (+)= p' dy            scale = (D / H)^-1/2
 *
 * Each product involves an n x n matrix of pairs and n x dh matrices of nodes, for every head and graph. A
 * single graph's size is known on the host, and all heads are one strided batch of cuBLAS (column-major: see
 * matmul.h). With several graphs, sizes are known only on the device: a thread block of `ragged_product`
 * processes TILE rows of one graph and head and sweeps over their columns.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/matrix.cuh"
#include "kernels/cuda/pairs.cuh"
#include "kernels/cuda/search.h"

namespace
{
enum {
    TILE = 32,          /* of rows, columns and the summation index */
    SIDE = 16,          /* a thread block is SIDE x SIDE; a thread computes EACH x EACH entries of a tile */
    EACH = TILE / SIDE, /* SIDE apart */
};

/* A matrix of nodes (N x D) or of pairs (H x P); a product uses one graph's part of one head. */
struct factor {
    struct mat m;
    bool pairs, transposed;
};

/* to = scale op(a) op(b) for every graph and head, or += if `to` is accumulated. */
struct product {
    struct factor to, a, b;
    float scale;
    struct offsets graphs;
    int heads, dh;
};

/* A factor's part: entry (i, k) at at[i * row + k * col]. */
struct part {
    float *at;
    int64_t row, col;
};

__device__ inline struct part part_of(struct factor f, struct row_block b, int head, int dh,
                                      int64_t first_pair)
{
    int64_t ld = f.pairs ? b.graph_rows : f.m.ld;
    struct part p;
    p.at = f.pairs ? entry(f.m, head, first_pair) : entry(f.m, b.graph_first, (int64_t)head * dh);
    p.row = f.transposed ? 1 : ld;
    p.col = f.transposed ? ld : 1;
    return p;
}

/*
 * tile[i][k] = entry (row + i, col + k) of a part with this many rows and columns; zero outside. Accesses are
 * coalesced whichever way the part is stored.
 */
__device__ inline void load_part(float (*tile)[TILE + 1], struct part p, int64_t row, int64_t rows,
                                 int64_t col, int64_t cols)
{
    for (int at = threadIdx.x; at < TILE * TILE; at += SIDE * SIDE) {
        int slow = at / TILE, fast = at % TILE;
        int i = p.col == 1 ? slow : fast, k = p.col == 1 ? fast : slow;
        bool inside = row + i < rows && col + k < cols;
        tile[i][k] = inside ? p.at[(row + i) * p.row + (col + k) * p.col] : 0;
    }
}

/* Computes the tile of the product at (row, col); each thread holds its entries. */
__device__ inline void multiply(float (&sums)[EACH][EACH], struct part a, struct part b, int64_t row,
                                int64_t rows, int64_t col, int64_t cols, int64_t inner)
{
    __shared__ float a_tile[TILE][TILE + 1], b_tile[TILE][TILE + 1];
    int y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;
    for (int i = 0; i < EACH * EACH; i++)
        sums[i / EACH][i % EACH] = 0;
    for (int64_t from = 0; from < inner; from += TILE) {
        load_part(a_tile, a, row, rows, from, inner);
        load_part(b_tile, b, from, inner, col, cols);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; k++)
            for (int i = 0; i < EACH * EACH; i++)
                sums[i / EACH][i % EACH] += a_tile[y + i / EACH * SIDE][k] * b_tile[k][x + i % EACH * SIDE];
        __syncthreads();
    }
}

__global__ void __launch_bounds__(SIDE *SIDE) ragged_product(struct product p, const int64_t *first)
{
    struct row_block rows =
        block_at((const int64_t *)p.graphs.at.data, p.graphs.at.ld, graph_count(p.graphs), TILE, blockIdx.x);
    if (rows.rows == 0)
        return;
    int head = blockIdx.z, y = threadIdx.x / SIDE, x = threadIdx.x % SIDE;
    int64_t first_pair = first[rows.graph], n = rows.graph_rows, row = rows.first - rows.graph_first;
    struct part to = part_of(p.to, rows, head, p.dh, first_pair);
    struct part a = part_of(p.a, rows, head, p.dh, first_pair);
    struct part b = part_of(p.b, rows, head, p.dh, first_pair);
    int64_t cols = p.to.pairs ? n : p.dh, inner = p.to.pairs ? p.dh : n;
    for (int64_t col = 0; col < cols; col += TILE) {
        float sums[EACH][EACH];
        multiply(sums, a, b, row, n, col, cols, inner);
        for (int i = 0; i < EACH * EACH; i++) {
            int64_t r = row + y + i / EACH * SIDE, c = col + x + i % EACH * SIDE;
            if (r >= n || c >= cols)
                continue;
            float *at = to.at + r * to.row + c * to.col;
            float value = p.scale * sums[i / EACH][i % EACH];
            *at = p.to.m.acc ? *at + value : value;
        }
    }
}

/* Strides between rows and between heads, in elements, for a single graph of n nodes. */
int64_t ld_of(struct factor f, int64_t n)
{
    return f.pairs ? n : max_of(f.m.ld, f.m.cols);
}

int64_t head_stride(struct factor f, int dh)
{
    return f.pairs ? max_of(f.m.ld, f.m.cols) : dh;
}

cublasOperation_t operation(struct factor f)
{
    return f.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

cublasStatus_t one_graph(const struct cuda_context *c, const struct product &p, int64_t n)
{
    float beta = p.to.m.acc ? 1 : 0;
    int64_t cols = p.to.pairs ? n : p.dh, inner = p.to.pairs ? p.dh : n;
    if (cuda_is_idle(c))
        return CUBLAS_STATUS_SUCCESS;
    CUDA_REQUIRE(c->stream == c->streams[0], "cuBLAS's handle is not of this stream");
    return cublasSgemmStridedBatched_64(c->blas, operation(p.b), operation(p.a), cols, n, inner, &p.scale,
                                        (const float *)p.b.m.data, ld_of(p.b, n), head_stride(p.b, p.dh),
                                        (const float *)p.a.m.data, ld_of(p.a, n), head_stride(p.a, p.dh),
                                        &beta, (float *)p.to.m.data, ld_of(p.to, n), head_stride(p.to, p.dh),
                                        p.heads);
}

/* Products over the same graphs of n nodes in all; those whose output is absent are left out. */
template <int COUNT>
cuda_status multiply_all(const struct call &call, const struct product (&products)[COUNT], int64_t n)
{
    struct offsets graphs = products[0].graphs;
    const int64_t *first;
    cuda_status status = run_pairs(call, graphs, &first);
    for (const struct product &p : products) {
        if (!mat_present(p.to.m) || status.fault)
            continue;
        if (graph_count(graphs) == 1)
            status = one_graph(context_of(call), p, n);
        else
            status = run(call, launch_heads(n, graph_count(graphs), p.heads, TILE, SIDE * SIDE),
                         ragged_product, p, first);
    }
    return status;
}

struct factor nodes(struct mat m, bool transposed)
{
    struct factor f = {m, false, transposed};
    return f;
}

struct factor pairs(struct mat m, bool transposed)
{
    struct factor f = {m, true, transposed};
    return f;
}
} // namespace

extern "C" void cuda_attention_scores(const void *args)
{
    const struct attention_scores_args *a = (const struct attention_scores_args *)args;
    int dh = (int)(a->q.cols / a->heads);
    float scale = (float)(1 / sqrt((double)dh));
    const struct product s[] = {
        {pairs(a->s, false), nodes(a->q, false), nodes(a->k, true), scale, a->graphs, a->heads, dh}};
    CUDA_CHECK(a->call, multiply_all(a->call, s, a->q.rows));
}

extern "C" void cuda_attention_scores_backward(const void *args)
{
    const struct attention_scores_backward_args *a = (const struct attention_scores_backward_args *)args;
    int dh = (int)(a->q.cols / a->heads);
    float scale = (float)(1 / sqrt((double)dh));
    const struct product dq_dk[] = {
        {nodes(a->dq, false), pairs(a->ds, false), nodes(a->k, false), scale, a->graphs, a->heads, dh},
        {nodes(a->dk, false), pairs(a->ds, true), nodes(a->q, false), scale, a->graphs, a->heads, dh}};
    CUDA_CHECK(a->call, multiply_all(a->call, dq_dk, a->q.rows));
}

extern "C" void cuda_attention_values(const void *args)
{
    const struct attention_values_args *a = (const struct attention_values_args *)args;
    int dh = (int)(a->v.cols / a->heads);
    const struct product y[] = {
        {nodes(a->y, false), pairs(a->p, false), nodes(a->v, false), 1, a->graphs, a->heads, dh}};
    CUDA_CHECK(a->call, multiply_all(a->call, y, a->v.rows));
}

extern "C" void cuda_attention_values_backward(const void *args)
{
    const struct attention_values_backward_args *a = (const struct attention_values_backward_args *)args;
    int dh = (int)(a->v.cols / a->heads);
    const struct product dp_dv[] = {
        {pairs(a->dp, false), nodes(a->dy, false), nodes(a->v, true), 1, a->graphs, a->heads, dh},
        {nodes(a->dv, false), pairs(a->p, true), nodes(a->dy, false), 1, a->graphs, a->heads, dh}};
    CUDA_CHECK(a->call, multiply_all(a->call, dp_dv, a->v.rows));
}

extern "C" int64_t cuda_attention_scores_scratch(const void *args)
{
    return pairs_scratch(((const struct attention_scores_args *)args)->graphs);
}

extern "C" int64_t cuda_attention_scores_backward_scratch(const void *args)
{
    return pairs_scratch(((const struct attention_scores_backward_args *)args)->graphs);
}

extern "C" int64_t cuda_attention_values_scratch(const void *args)
{
    return pairs_scratch(((const struct attention_values_args *)args)->graphs);
}

extern "C" int64_t cuda_attention_values_backward_scratch(const void *args)
{
    return pairs_scratch(((const struct attention_values_backward_args *)args)->graphs);
}
