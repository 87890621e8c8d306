/*
 * Ops with matrices of edges, as loops over the edges of each node: a thread has some columns of a node and
 * visits its edges in order, so sums have one owner and a fixed order. Rows of edges and of nodes are read
 * along their columns. The edges of a hub are not divided among threads, as those of edges.cuh are.
 */
#ifndef GTMARK_KERNELS_CUDA_EDGE_ROWS_CUH
#define GTMARK_KERNELS_CUDA_EDGE_ROWS_CUH

#include "kernels/cuda/edges.cuh"
#include "kernels/cuda/entries.cuh"

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

/* What a sum begins with: the contents of an accumulated output, otherwise zero. */
template <int V, class T = float>
static __device__ inline vec<V> begin_sum(const struct mat &m, int64_t i, int64_t k)
{
    return m.acc ? load<V>(entry<T>(m, i, k)) : same<V>(0);
}

#endif
