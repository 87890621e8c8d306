/*
 * The sum in GINE, as in ref/gine.c:
 *
 *   y_i = self x_i + sum of relu(x_j + e) over the edges e: j -> i
 *   f_e = dy_i where x_j + e > 0, else 0    de (+)= f    dx_j (+)= self dy_j + sum of f over the edges from j
 *
 * With weights w_e, all terms of an edge are times w_e, whose gradient is the sum of f_e (x_j + e) over the
 * columns.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_rows.cuh"

namespace
{
template <class T> struct gine_nodes {
    struct mat y, x, e, g;
    struct edge_visits in;
    float self;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = same<V>(0);
        each_edge(in, i, [&](int64_t number, int64_t j) {
            vec<V> z = load<V>(node_entry<T>(x, j, k)) + load<V>(entry<T>(e, number, k));
            float weight = edge_weight<T>(g, number);
#pragma unroll
            for (int v = 0; v < V; v++)
                sum.at[v] += z.at[v] <= 0 ? 0 : z.at[v] * weight; /* NaN stays */
        });
        if (self != 0)
            sum = sum + load<V>(entry<T>(x, i, k)) * self;
        store(entry<T>(y, i, k), sum);
    }
};

template <class T> struct gine_senders {
    struct mat dx, de, dy, x, e, g;
    struct edge_visits out;
    float self;

    template <int V> __device__ void at(int64_t j, int64_t k) const
    {
        vec<V> own = load<V>(entry<T>(x, j, k)), sum = begin_sum<V, T>(dx, j, k);
        each_edge(out, j, [&](int64_t number, int64_t i) {
            vec<V> z = own + load<V>(entry<T>(e, number, k)), f = load<V>(node_entry<T>(dy, i, k));
            float weight = edge_weight<T>(g, number);
#pragma unroll
            for (int v = 0; v < V; v++)
                f.at[v] = z.at[v] > 0 ? f.at[v] * weight : 0;
            put(entry<T>(de, number, k), de.acc, f);
            sum = sum + f;
        });
        if (self != 0)
            sum = sum + load<V>(entry<T>(dy, j, k)) * self;
        store(entry<T>(dx, j, k), sum);
    }
};

template <class T> struct gine_weights {
    struct mat dg, dy, x, e, g;

    template <int V> __device__ vec<V> terms(int64_t j, int64_t i, int64_t number, int64_t k) const
    {
        vec<V> z = load<V>(entry<T>(x, j, k)) + load<V>(entry<T>(e, number, k));
        vec<V> f = load<V>(node_entry<T>(dy, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            f.at[v] = z.at[v] > 0 ? f.at[v] : 0;
        return f * z;
    }
    __device__ void put(int64_t number, float slope) const
    {
        put_weight_slope<T>(dg, g, number, slope);
    }
};
} // namespace

extern "C" void cuda_gine(const void *args)
{
    const struct gine_args *a = (const struct gine_args *)args;
    const struct mat all[] = {a->y, a->x, a->e};
    CUDA_CHECK(a->call, run_nodes<gine_nodes>(a->call, a->y.rows, all, 3, a->y, a->x, a->e, a->g,
                                              edges_received(a->adj), (float)a->self));
}

extern "C" void cuda_gine_backward(const void *args)
{
    const struct gine_backward_args *a = (const struct gine_backward_args *)args;
    const struct mat all[] = {a->dx, a->de, a->dy, a->x, a->e};
    CUDA_CHECK(a->call, run_nodes<gine_senders>(a->call, a->dx.rows, all, 5, a->dx, a->de, a->dy, a->x, a->e,
                                                a->g, edges_sent(a->adj), (float)a->self));
    if (mat_present(a->dg))
        CUDA_CHECK(a->call, run_edge_sums<gine_weights>(a->call, edges_sent(a->adj), all, 5, a->dg, a->dy,
                                                        a->x, a->e, a->g));
}
