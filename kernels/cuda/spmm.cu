/*
 * Aggregation over edges: y_i = self x_i + sum of x_j over the edges j -> i, and its backward over the edges
 * out of each node, dx_j (+)= self dy_j + sum of dy_i. x, y: N x D. With weights [s, u] of each node, those
 * of GCN (gcn_weights) among others, y_i = s_i (u_i x_i + sum of s_j x_j).
 *
 * A lane processes 1 or 4 columns, a team a tile of up to 32 lanes of them, in shares of equal work
 * (edges.cuh).
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edges.cuh"

namespace
{
template <class T, int V, bool WEIGHTS> struct aggregate {
    enum { SUMS = V, UNROLL = 4 };
    struct state {
        float sums[SUMS];
    };
    struct mat y, x, w;
    float self;

    /* Weights of node i: of what it sends, and of its own. */
    __device__ float within(int64_t i) const
    {
        return load<1>(entry<T>(w, i, 0)).at[0];
    }
    __device__ float own_weight(int64_t i) const
    {
        return load<1>(entry<T>(w, i, 1)).at[0];
    }
    static __device__ int64_t column(const struct team &t)
    {
        return (t.tile * t.lanes + t.lane) * V;
    }
    __device__ void clear(state &s) const
    {
#pragma unroll
        for (int v = 0; v < V; v++)
            s.sums[v] = 0;
    }
    __device__ void begin(state &, const struct team &, int64_t, bool) const
    {
    }
    __device__ void add(state &s, const struct team &t, int64_t, const int64_t ends[UNROLL], int count) const
    {
        int64_t k = column(t);
        if (k >= y.cols)
            return;
        vec<V> other[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            other[u] = WEIGHTS ? load<V>(node_entry<T>(x, ends[u], k)) * within(ends[u])
                               : load<V>(node_entry<T>(x, ends[u], k));
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int v = 0; v < V; v++)
                s.sums[v] += u < count ? other[u].at[v] : 0;
    }
    __device__ void unite(state &s, const float sums[SUMS]) const
    {
#pragma unroll
        for (int v = 0; v < V; v++)
            s.sums[v] += sums[v];
    }
    __device__ void finish(const state &s, const struct team &t, int64_t row) const
    {
        int64_t k = column(t);
        if (k >= y.cols)
            return;
        float share = WEIGHTS ? own_weight(row) : self, factor = WEIGHTS ? within(row) : 1;
        vec<V> sum, own = share != 0 && row < x.rows ? load<V>(entry<T>(x, row, k)) : same<V>(0);
#pragma unroll
        for (int v = 0; v < V; v++)
            sum.at[v] = factor * (s.sums[v] + share * own.at[v]);
        put(entry<T>(y, row, k), y.acc, sum);
    }
};

struct edge_plan aggregate_plan(struct mat row, struct mat col, int64_t cols, int width)
{
    int lanes = (int)max_of(2, lanes_for(blocks_of(cols, width), WARP));
    return edge_plan_of(row, col, lanes, blocks_of(cols, (int64_t)lanes * width));
}

template <class T, int V>
cuda_status run_aggregate(const struct call &call, struct mat y, struct mat x, struct mat w,
                          struct edge_side edges, double self)
{
    struct edge_plan p = aggregate_plan(edges.row, edges.col, y.cols, V);
    const aggregate<T, V, false> plain = {y, x, w, (float)self};
    const aggregate<T, V, true> weighted = {y, x, w, 0};
    return mat_present(w) ? run_edges(call, weighted, edges, p, 0) : run_edges(call, plain, edges, p, 0);
}

cuda_status aggregate_rows(const struct call &call, struct mat y, struct mat x, struct mat w,
                           struct edge_side edges, double self)
{
    const struct mat all[] = {y, x};
    return by_type(y.dtype, [&](auto zero) {
        typedef decltype(zero) T;
        return width_of(all, 2) == WIDE ? run_aggregate<T, WIDE>(call, y, x, w, edges, self)
                                        : run_aggregate<T, 1>(call, y, x, w, edges, self);
    });
}

int64_t aggregate_scratch(struct mat row, struct mat col, int64_t cols)
{
    return max_of(cut_rows_bytes(aggregate_plan(row, col, cols, WIDE), WIDE),
                  cut_rows_bytes(aggregate_plan(row, col, cols, 1), 1));
}
} // namespace

extern "C" void cuda_spmm(const void *args)
{
    const struct spmm_args *a = (const struct spmm_args *)args;
    CUDA_CHECK(a->call, aggregate_rows(a->call, a->y, a->x, a->w, received(a->adj), a->self));
}

extern "C" int64_t cuda_spmm_scratch(const void *args)
{
    const struct spmm_args *a = (const struct spmm_args *)args;
    return aggregate_scratch(a->adj.row, a->adj.col, a->x.cols);
}

extern "C" void cuda_spmm_backward(const void *args)
{
    const struct spmm_backward_args *a = (const struct spmm_backward_args *)args;
    CUDA_CHECK(a->call, aggregate_rows(a->call, a->dx, a->dy, a->w, sent(a->adj), a->self));
}

extern "C" int64_t cuda_spmm_backward_scratch(const void *args)
{
    const struct spmm_backward_args *a = (const struct spmm_backward_args *)args;
    return aggregate_scratch(a->adj.out_row, a->adj.out_col, a->dy.cols);
}
