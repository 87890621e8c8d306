/*
 * Ops with matrices of edges, as loops over the edges of each node: a thread has some columns of a node and
 * visits its edges in order, so sums have one owner and a fixed order. Rows of edges and of nodes are read
 * along their columns. The edges of a hub are not divided among threads, as those of edges.cuh are.
 */
#ifndef GTMARK_KERNELS_CUDA_EDGE_ROWS_CUH
#define GTMARK_KERNELS_CUDA_EDGE_ROWS_CUH

#include "kernels/cuda/edges.cuh"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/math.h"

/* The edges of each node, and their numbers where these are not their places in the list. */
struct edge_visits {
    struct edge_lists lists;
    const int32_t *number; /* null: the places */
    int64_t number_ld;
};

static inline struct edge_visits edges_received(struct edges adj)
{
    struct edge_visits v = {edge_lists_of(adj.row, adj.col), NULL, 0};
    return v;
}

static inline struct edge_visits edges_sent(struct edges adj)
{
    struct edge_visits v = {edge_lists_of(adj.out_row, adj.out_col), (const int32_t *)adj.out_edge.data,
                            adj.out_edge.ld};
    return v;
}

/* Calls f(number, node at the other end) for each edge of node i. */
template <class F> static __device__ inline void each_edge(const struct edge_visits &v, int64_t i, const F &f)
{
    int64_t end = v.lists.at[(i + 1) * v.lists.at_ld];
    for (int64_t n = v.lists.at[i * v.lists.at_ld]; n < end; n++)
        f(v.number ? (int64_t)v.number[n * v.number_ld] : n, (int64_t)v.lists.col[n * v.lists.col_ld]);
}

/* Runs F::at<V>(i, k) for columns k .. k + V - 1 of each node; `all` are the matrices that it accesses. */
template <class F>
static cuda_status run_nodes(const struct call &call, int64_t nodes, int64_t cols, const struct mat *all,
                             int count, const F &f)
{
    return run_entries(call, lines_by_row(nodes, cols, width_of(all, count)), f);
}

/* The same for F<T> of these members, where T is the type of the entries (by_type); columns are those of
 * all[0]. */
template <template <class> class F, class... Members>
static cuda_status run_nodes(const struct call &call, int64_t nodes, const struct mat *all, int count,
                             const Members &...members)
{
    struct lines l = lines_by_row(nodes, all->cols, width_of(all, count));
    return run_entries<F>(call, all->dtype, l, members...);
}

/* A number for each edge: F::put(number, sum) of F::terms<V>(node, other end, number, k) over the columns. */
template <int V, class F>
static __global__ void __launch_bounds__(BLOCK, 1)
    each_edge_sum(struct row_teams t, struct edge_visits edges, const F f)
{
    int lane = (int)threadIdx.x % t.lanes, teams = BLOCK / t.lanes;
    int64_t step = (int64_t)gridDim.x * teams;
    for (int64_t i = (int64_t)blockIdx.x * teams + threadIdx.x / t.lanes; i < t.rows; i += step)
        each_edge(edges, i, [&](int64_t number, int64_t other) {
            float sum = 0;
            for (int64_t k = (int64_t)lane * V; k < t.cols; k += (int64_t)t.lanes * V)
                sum += sum_of(f.template terms<V>(i, other, number, k));
            sum = team_sum(team_mask(t.lanes), t.lanes, sum);
            if (lane == 0)
                f.put(number, sum);
        });
}

/* The same for F<T> of these members, by a team for each row of all[0]. */
template <template <class> class F, class... Members>
static cuda_status run_edge_sums(const struct call &call, struct edge_visits edges, const struct mat *all,
                                 int count, const Members &...members)
{
    struct row_teams t = row_teams_of(all->rows, all->cols, width_of(all, count));
    return by_type(all->dtype, [&](auto zero) {
        typedef F<decltype(zero)> sums;
        const sums f = {members...};
        return run(call, row_teams_launch(t, LAUNCH_MAX_X),
                   t.width == WIDE ? each_edge_sum<WIDE, sums> : each_edge_sum<1, sums>, t, edges, f);
    });
}

/* sigmoid(g) of an edge: its weight, 1 without g. */
template <class T> static __device__ inline float edge_weight(const struct mat &g, int64_t number)
{
    return present(g) ? times_logistic(1, load<1>(entry<T>(g, number, 0)).at[0]) : 1;
}

/* dg (+)= the slope of the weight times that of the loss in it. */
template <class T>
static __device__ inline void put_weight_slope(const struct mat &dg, const struct mat &g, int64_t number,
                                               float slope)
{
    float w = edge_weight<T>(g, number);
    put(entry<T>(dg, number, 0), dg.acc, vec<1>{w * (1 - w) * slope});
}

/* What a sum begins with: the contents of an accumulated output, otherwise zero. */
template <int V, class T = float>
static __device__ inline vec<V> begin_sum(const struct mat &m, int64_t i, int64_t k)
{
    return m.acc ? load<V>(entry<T>(m, i, k)) : same<V>(0);
}

#endif
