/*
 * The aggregation of GatedGCN, as in ref/gated_mean.c, column by column:
 *
 *   s_e = 1 / (1 + exp(-h_e))    sum_i = eps + sum of s_e    y_i = sum of s_e b_j / sum_i      e: j -> i
 *   g_i = dy_i / sum_i    db_j (+)= sum of s_e g_i over the edges from j    dh_e (+)= g_i (b_j - y_i) s_e (1
 * - s_e)
 *
 * With weights w_e, these and not s_e are in sums, and are factors of dh; their gradients are sums of
 * g_i (b_j - y_i) s_e over the columns.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_rows.cuh"

namespace
{
template <class T> struct gated_nodes {
    struct mat y, sum, h, b, g;
    struct edge_visits in;
    float eps;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> gates = same<V>(eps), values = same<V>(0);
        each_edge(in, i, [&](int64_t number, int64_t j) {
            vec<V> s = load<V>(entry<T>(h, number, k)), x = load<V>(node_entry<T>(b, j, k));
            float weight = edge_weight<T>(g, number);
#pragma unroll
            for (int v = 0; v < V; v++) {
                s.at[v] = times_logistic(weight, s.at[v]);
                gates.at[v] += s.at[v];
                values.at[v] += s.at[v] * x.at[v];
            }
        });
#pragma unroll
        for (int v = 0; v < V; v++)
            values.at[v] /= gates.at[v];
        store(entry<T>(y, i, k), values);
        if (present(sum))
            store(entry(sum, i, k), gates);
    }
};

template <class T> struct gated_senders {
    struct mat dh, db, dy, y, h, b, g, sum;
    struct edge_visits out;

    template <int V> __device__ void at(int64_t j, int64_t k) const
    {
        vec<V> own = load<V>(entry<T>(b, j, k)), total = begin_sum<V, T>(db, j, k);
        each_edge(out, j, [&](int64_t number, int64_t i) {
            vec<V> s = load<V>(entry<T>(h, number, k)), f = load<V>(node_entry<T>(dy, i, k));
            vec<V> mean = load<V>(node_entry<T>(y, i, k)), gates = load<V>(node_entry(sum, i, k)), d;
            float weight = edge_weight<T>(g, number);
#pragma unroll
            for (int v = 0; v < V; v++) {
                s.at[v] = times_logistic(1, s.at[v]);
                f.at[v] *= weight / gates.at[v];
                d.at[v] = f.at[v] * (own.at[v] - mean.at[v]) * s.at[v] * (1 - s.at[v]);
                total.at[v] += s.at[v] * f.at[v];
            }
            put(entry<T>(dh, number, k), dh.acc, d);
        });
        store(entry<T>(db, j, k), total);
    }
};

template <class T> struct gate_weights {
    struct mat dg, dy, y, h, b, g, sum;

    template <int V> __device__ vec<V> terms(int64_t j, int64_t i, int64_t number, int64_t k) const
    {
        vec<V> s = load<V>(entry<T>(h, number, k)), f = load<V>(node_entry<T>(dy, i, k));
        vec<V> gates = load<V>(node_entry(sum, i, k));
        vec<V> d = load<V>(entry<T>(b, j, k)) - load<V>(node_entry<T>(y, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            d.at[v] *= times_logistic(f.at[v] / gates.at[v], s.at[v]);
        return d;
    }
    __device__ void put(int64_t number, float slope) const
    {
        put_weight_slope<T>(dg, g, number, slope);
    }
};
} // namespace

extern "C" void cuda_gated_mean(const void *args)
{
    const struct gated_mean_args *a = (const struct gated_mean_args *)args;
    const struct mat all[] = {a->y, a->sum, a->h, a->b};
    CUDA_CHECK(a->call, run_nodes<gated_nodes>(a->call, a->y.rows, all, 4, a->y, a->sum, a->h, a->b, a->g,
                                               edges_received(a->adj), (float)a->eps));
}

extern "C" void cuda_gated_mean_backward(const void *args)
{
    const struct gated_mean_backward_args *a = (const struct gated_mean_backward_args *)args;
    const struct mat all[] = {a->db, a->dh, a->dy, a->y, a->h, a->b, a->sum};
    CUDA_CHECK(a->call, run_nodes<gated_senders>(a->call, a->db.rows, all, 7, a->dh, a->db, a->dy, a->y, a->h,
                                                 a->b, a->g, a->sum, edges_sent(a->adj)));
    if (mat_present(a->dg))
        CUDA_CHECK(a->call, run_edge_sums<gate_weights>(a->call, edges_sent(a->adj), all, 7, a->dg, a->dy,
                                                        a->y, a->h, a->b, a->g, a->sum));
}
