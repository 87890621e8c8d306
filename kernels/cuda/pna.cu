/*
 * Aggregations of edges e: j -> i, column by column, as in ref/pna.c and ref/edge_pool.c. Nodes without edges
 * have zeros; n is the number of edges to i.
 *
 *   pna_pool    sum_i = sum of x_e    mean_i = sum_i / n    max_i = max x_e, with x_e = a_i + b_j
 *   edge_pool   the same of rows x of edges
 *   backward    g_e = dsum_i + dmean_i / n + (dmax_i / number of edges to i with x_e = max_i, where it is)
 *   edge_mean   y_i = mean of x_e over the edges from others    dx_e = dy_i / number of these, 0 on loops
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_rows.cuh"

namespace
{
__device__ int64_t degree(const struct edge_visits &v, int64_t i)
{
    return v.lists.at[(i + 1) * v.lists.at_ld] - v.lists.at[i * v.lists.at_ld];
}

__device__ float divisor(int64_t count)
{
    return (float)(count > 0 ? count : 1);
}

/* What is pooled: of edge `number` from node j. */
struct sent_rows {
    struct mat b;

    template <int V> __device__ vec<V> read(int64_t, int64_t j, int64_t k) const
    {
        return load<V>(entry(b, j, k));
    }
};

struct edge_entries {
    struct mat x;

    template <int V> __device__ vec<V> read(int64_t number, int64_t, int64_t k) const
    {
        return load<V>(entry(x, number, k));
    }
};

/* With a row of `a` for each node if it is present. */
template <class F> struct pool_nodes {
    struct mat mean, max, sum, top, a;
    F from;
    struct edge_visits in;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        int64_t n = degree(in, i);
        vec<V> total = same<V>(0), largest = same<V>(n > 0 ? -INFINITY : 0);
        each_edge(in, i, [&](int64_t number, int64_t j) {
            vec<V> x = from.template read<V>(number, j, k);
            total = total + x;
#pragma unroll
            for (int v = 0; v < V; v++)
                largest.at[v] = larger_of(x.at[v], largest.at[v]);
        });
        if (present(top))
            store(entry(top, i, k), largest);
        if (present(a) && n > 0) {
            vec<V> own = load<V>(entry(a, i, k));
            total = total + own * (float)n;
            largest = largest + own;
        }
        store(entry(sum, i, k), total);
        store(entry(mean, i, k), total * (1 / divisor(n)));
        store(entry(max, i, k), largest);
    }
};

/* The gradient of each edge to a node: `base`, and `share` where it has the largest entry. */
template <int V> struct edge_shares_of {
    vec<V> base, share;
};

template <class F> struct pool_gradients {
    struct mat dmean, dmax, dsum, largest;
    F from;
    struct edge_visits in;

    template <int V> __device__ edge_shares_of<V> shares(int64_t i, int64_t k) const
    {
        vec<V> most = load<V>(entry(largest, i, k)), ties = same<V>(0);
        each_edge(in, i, [&](int64_t number, int64_t j) {
            vec<V> x = from.template read<V>(number, j, k);
#pragma unroll
            for (int v = 0; v < V; v++)
                ties.at[v] += x.at[v] == most.at[v] ? 1 : 0;
        });
        edge_shares_of<V> s = {load<V>(entry(dsum, i, k)) +
                                   load<V>(entry(dmean, i, k)) * (1 / divisor(degree(in, i))),
                               load<V>(entry(dmax, i, k))};
#pragma unroll
        for (int v = 0; v < V; v++)
            s.share.at[v] = ties.at[v] > 0 ? s.share.at[v] / ties.at[v] : 0;
        return s;
    }
};

/* base + share where x is the largest */
template <int V> __device__ vec<V> gradient_of(edge_shares_of<V> s, vec<V> x, vec<V> largest)
{
#pragma unroll
    for (int v = 0; v < V; v++)
        s.base.at[v] += x.at[v] == largest.at[v] ? s.share.at[v] : 0;
    return s.base;
}

struct edge_pool_edges {
    struct mat dx;
    struct pool_gradients<edge_entries> g;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        edge_shares_of<V> s = g.shares<V>(i, k);
        vec<V> largest = load<V>(entry(g.largest, i, k));
        each_edge(g.in, i, [&](int64_t number, int64_t) {
            put(entry(dx, number, k), dx.acc, gradient_of(s, load<V>(entry(g.from.x, number, k)), largest));
        });
    }
};

/* First step of pna_pool_backward: da, and for db both shares of each node. */
struct pna_receivers {
    struct mat da, base, share;
    struct pool_gradients<sent_rows> g;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        int64_t n = degree(g.in, i);
        if (present(da)) {
            vec<V> all = load<V>(entry(g.dsum, i, k)) * (float)n + load<V>(entry(g.dmean, i, k)) +
                         load<V>(entry(g.dmax, i, k));
            put(entry(da, i, k), da.acc, n > 0 ? all : same<V>(0));
        }
        if (present(base)) {
            edge_shares_of<V> s = g.shares<V>(i, k);
            store(entry(base, i, k), s.base);
            store(entry(share, i, k), s.share);
        }
    }
};

struct pna_senders {
    struct mat db, base, share, top, b;
    struct edge_visits out;

    template <int V> __device__ void at(int64_t j, int64_t k) const
    {
        vec<V> own = load<V>(entry(b, j, k)), sum = begin_sum<V>(db, j, k);
        each_edge(out, j, [&](int64_t, int64_t i) {
            edge_shares_of<V> s = {load<V>(entry(base, i, k)), load<V>(entry(share, i, k))};
            sum = sum + gradient_of(s, own, load<V>(entry(top, i, k)));
        });
        store(entry(db, j, k), sum);
    }
};

/* Edges from others to node i. */
__device__ int64_t others(const struct edge_visits &in, int64_t i)
{
    int64_t count = 0;
    each_edge(in, i, [&](int64_t, int64_t j) { count += j != i; });
    return count;
}

struct mean_nodes {
    struct mat y, x;
    struct edge_visits in;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = same<V>(0);
        int64_t count = 0;
        each_edge(in, i, [&](int64_t number, int64_t j) {
            if (j != i)
                sum = sum + load<V>(entry(x, number, k));
            count += j != i;
        });
        store(entry(y, i, k), sum * (1 / divisor(count)));
    }
};

struct mean_gradients {
    struct mat dx, dy;
    struct edge_visits in;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> share = load<V>(entry(dy, i, k)) * (1 / divisor(others(in, i)));
        each_edge(in, i, [&](int64_t number, int64_t j) {
            put(entry(dx, number, k), dx.acc, j == i ? same<V>(0) : share);
        });
    }
};

/* Scratch of pna_pool_backward: base, then share. */
struct mat shares_at(const struct pna_pool_backward_args *a, int which)
{
    int64_t rows = mat_present(a->db) ? a->b.rows : 0;
    return scratch_mat(a->call, which * scratch_bytes(rows * a->b.cols, sizeof(float)), rows, a->b.cols);
}
} // namespace

extern "C" void cuda_pna_pool(const void *args)
{
    const struct pna_pool_args *a = (const struct pna_pool_args *)args;
    const struct mat all[] = {a->mean, a->max, a->sum, a->top, a->a, a->b};
    const pool_nodes<sent_rows> f = {a->mean, a->max, a->sum, a->top, a->a, {a->b}, edges_received(a->adj)};
    CUDA_CHECK(a->call, run_nodes(a->call, a->sum.rows, a->sum.cols, all, 6, f));
}

extern "C" void cuda_pna_pool_backward(const void *args)
{
    const struct pna_pool_backward_args *a = (const struct pna_pool_backward_args *)args;
    struct mat base = shares_at(a, 0), share = shares_at(a, 1);
    const struct mat all[] = {a->da, a->db, a->dmean, a->dmax, a->dsum, a->top, a->b, base, share};
    const pna_receivers to = {
        a->da, base, share, {a->dmean, a->dmax, a->dsum, a->top, {a->b}, edges_received(a->adj)}};
    const pna_senders from = {a->db, base, share, a->top, a->b, edges_sent(a->adj)};
    CUDA_CHECK(a->call, run_nodes(a->call, a->b.rows, a->b.cols, all, 9, to));
    if (mat_present(a->db))
        CUDA_CHECK(a->call, run_nodes(a->call, a->b.rows, a->b.cols, all, 9, from));
}

extern "C" int64_t cuda_pna_pool_backward_scratch(const void *args)
{
    struct mat one = shares_at((const struct pna_pool_backward_args *)args, 0);
    return 2 * scratch_bytes(mat_size(one), sizeof(float));
}

extern "C" void cuda_edge_pool(const void *args)
{
    const struct edge_pool_args *a = (const struct edge_pool_args *)args;
    const struct mat all[] = {a->mean, a->max, a->sum, a->x}, none = {};
    const pool_nodes<edge_entries> f = {a->mean, a->max, a->sum, none, none, {a->x}, edges_received(a->adj)};
    CUDA_CHECK(a->call, run_nodes(a->call, a->sum.rows, a->sum.cols, all, 4, f));
}

extern "C" void cuda_edge_pool_backward(const void *args)
{
    const struct edge_pool_backward_args *a = (const struct edge_pool_backward_args *)args;
    const struct mat all[] = {a->dx, a->dmean, a->dmax, a->dsum, a->max, a->x};
    const edge_pool_edges f = {a->dx, {a->dmean, a->dmax, a->dsum, a->max, {a->x}, edges_received(a->adj)}};
    CUDA_CHECK(a->call, run_nodes(a->call, a->max.rows, a->max.cols, all, 6, f));
}

extern "C" void cuda_edge_mean(const void *args)
{
    const struct edge_mean_args *a = (const struct edge_mean_args *)args;
    const struct mat all[] = {a->y, a->x};
    const mean_nodes f = {a->y, a->x, edges_received(a->adj)};
    CUDA_CHECK(a->call, run_nodes(a->call, a->y.rows, a->y.cols, all, 2, f));
}

extern "C" void cuda_edge_mean_backward(const void *args)
{
    const struct edge_mean_backward_args *a = (const struct edge_mean_backward_args *)args;
    const struct mat all[] = {a->dx, a->dy};
    const mean_gradients f = {a->dx, a->dy, edges_received(a->adj)};
    CUDA_CHECK(a->call, run_nodes(a->call, a->dy.rows, a->dy.cols, all, 2, f));
}
