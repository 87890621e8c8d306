/*
 * The softmax of attention in three steps (unfused_attention.cu), over the keys of each query:
 *
 *   p_ij = exp(s_ij - max_j s_ij) / sum_j exp(s_ij - max_j s_ij)
 *   ds_ij (+)= p_ij (dp_ij - sum_j dp_ij p_ij)
 *
 * A warp processes a query of one head. The number of queries is not an operand, but it is at most the square
 * root of graphs times pairs (Cauchy and Schwarz), for which the grid is planned; the exact number is the
 * last offset, on the device.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/pairs.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/search.h"

namespace
{
/* The pairs of a query: entries begin .. begin + count - 1 of each head's row. */
struct query {
    int64_t begin;
    int count;
};

__device__ inline struct query query_of(struct offsets graphs, const int64_t *first, int64_t i)
{
    const int64_t *at = (const int64_t *)graphs.at.data;
    int64_t g = range_of(at, graphs.at.ld, graph_count(graphs), i), from = at[g * graphs.at.ld];
    struct query q;
    q.count = (int)(at[(g + 1) * graphs.at.ld] - from);
    q.begin = (first ? first[g] : 0) + (i - from) * q.count;
    return q;
}

__device__ inline void query_softmax(const float *s, float *p, int count)
{
    int lane = threadIdx.x % WARP;
    float top = -INFINITY, sum = 0;
    for (int j = lane; j < count; j += WARP)
        top = softmax_top(top, s[j]);
    top = team_max(WHOLE_WARP, WARP, top);
    for (int j = lane; j < count; j += WARP)
        sum += exp2f((s[j] - top) * LOG2E);
    sum = 1 / team_sum(WHOLE_WARP, WARP, sum);
    for (int j = lane; j < count; j += WARP)
        p[j] = exp2f((s[j] - top) * LOG2E) * sum;
}

__device__ inline void query_softmax_backward(float *ds, bool acc, const float *dp, const float *p, int count)
{
    int lane = threadIdx.x % WARP;
    float delta = 0;
    for (int j = lane; j < count; j += WARP)
        delta += dp[j] * p[j];
    delta = team_sum(WHOLE_WARP, WARP, delta);
    for (int j = lane; j < count; j += WARP)
        ds[j] = (acc ? ds[j] : 0) + p[j] * (dp[j] - delta);
}

/* Warps stride over the queries, whose number is the last offset. */
__device__ inline int64_t first_query()
{
    return (int64_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
}

__device__ inline int64_t queries_in(struct offsets graphs)
{
    return graph_first(graphs, graph_count(graphs));
}

__global__ void __launch_bounds__(BLOCK, 1)
    softmax(struct mat p, struct mat s, struct offsets graphs, const int64_t *first)
{
    for (int64_t i = first_query(); i < queries_in(graphs); i += (int64_t)gridDim.x * (BLOCK / WARP)) {
        struct query q = query_of(graphs, first, i);
        query_softmax(entry(s, blockIdx.z, q.begin), entry(p, blockIdx.z, q.begin), q.count);
    }
}

__global__ void __launch_bounds__(BLOCK, 1)
    softmax_backward(struct mat ds, struct mat dp, struct mat p, struct offsets graphs, const int64_t *first)
{
    for (int64_t i = first_query(); i < queries_in(graphs); i += (int64_t)gridDim.x * (BLOCK / WARP)) {
        struct query q = query_of(graphs, first, i);
        query_softmax_backward(entry(ds, blockIdx.z, q.begin), ds.acc, entry(dp, blockIdx.z, q.begin),
                               entry(p, blockIdx.z, q.begin), q.count);
    }
}
} // namespace

extern "C" void cuda_attention_softmax(const void *args)
{
    const struct attention_softmax_args *a = (const struct attention_softmax_args *)args;
    struct launch l = launch_softmax(graph_count(a->graphs), a->graphs.pairs, a->s.rows);
    const int64_t *first;
    CUDA_CHECK(a->call, run_pairs(a->call, a->graphs, &first));
    CUDA_CHECK(a->call, run(a->call, l, softmax, a->p, a->s, a->graphs, first));
}

extern "C" void cuda_attention_softmax_backward(const void *args)
{
    const struct attention_softmax_backward_args *a = (const struct attention_softmax_backward_args *)args;
    if (!mat_present(a->ds))
        return;
    struct launch l = launch_softmax(graph_count(a->graphs), a->graphs.pairs, a->p.rows);
    const int64_t *first;
    CUDA_CHECK(a->call, run_pairs(a->call, a->graphs, &first));
    CUDA_CHECK(a->call, run(a->call, l, softmax_backward, a->ds, a->dp, a->p, a->graphs, first));
}

extern "C" int64_t cuda_attention_softmax_scratch(const void *args)
{
    return pairs_scratch(((const struct attention_softmax_args *)args)->graphs);
}

extern "C" int64_t cuda_attention_softmax_backward_scratch(const void *args)
{
    return pairs_scratch(((const struct attention_softmax_backward_args *)args)->graphs);
}
