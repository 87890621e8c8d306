/*
 * The sum in GINE, as in ref/gine.c:
 *
 *   y_i = self x_i + sum of relu(x_j + e) over the edges e: j -> i
 *   g_e = dy_i where x_j + e > 0, else 0    de (+)= g    dx_j (+)= self dy_j + sum of g over the edges from j
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_rows.cuh"

namespace
{
struct gine_nodes {
    struct mat y, x, e;
    struct edge_visits in;
    float self;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = same<V>(0);
        each_edge(in, i, [&](int64_t number, int64_t j) {
            vec<V> z = load<V>(node_entry(x, j, k)) + load<V>(entry(e, number, k));
#pragma unroll
            for (int v = 0; v < V; v++)
                sum.at[v] += z.at[v] <= 0 ? 0 : z.at[v]; /* NaN stays */
        });
        if (self != 0)
            sum = sum + load<V>(entry(x, i, k)) * self;
        store(entry(y, i, k), sum);
    }
};

struct gine_senders {
    struct mat dx, de, dy, x, e;
    struct edge_visits out;
    float self;

    template <int V> __device__ void at(int64_t j, int64_t k) const
    {
        vec<V> own = load<V>(entry(x, j, k)), sum = begin_sum<V>(dx, j, k);
        each_edge(out, j, [&](int64_t number, int64_t i) {
            vec<V> z = own + load<V>(entry(e, number, k)), g = load<V>(node_entry(dy, i, k));
#pragma unroll
            for (int v = 0; v < V; v++)
                g.at[v] = z.at[v] > 0 ? g.at[v] : 0;
            put(entry(de, number, k), de.acc, g);
            sum = sum + g;
        });
        if (self != 0)
            sum = sum + load<V>(entry(dy, j, k)) * self;
        store(entry(dx, j, k), sum);
    }
};
} // namespace

extern "C" void cuda_gine(const void *args)
{
    const struct gine_args *a = (const struct gine_args *)args;
    const struct mat all[] = {a->y, a->x, a->e};
    const gine_nodes f = {a->y, a->x, a->e, edges_received(a->adj), (float)a->self};
    CUDA_CHECK(a->call, run_nodes(a->call, a->y.rows, a->y.cols, all, 3, f));
}

extern "C" void cuda_gine_backward(const void *args)
{
    const struct gine_backward_args *a = (const struct gine_backward_args *)args;
    const struct mat all[] = {a->dx, a->de, a->dy, a->x, a->e};
    const gine_senders f = {a->dx, a->de, a->dy, a->x, a->e, edges_sent(a->adj), (float)a->self};
    CUDA_CHECK(a->call, run_nodes(a->call, a->dx.rows, a->dx.cols, all, 5, f));
}
