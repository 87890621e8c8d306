/*
 * Squared distances of the ends of edges e: j -> i, as in ref/edge_distance.c:
 *
 *   y_e = |x_i - x_j|^2    dx_i (+)= sum of 2 dy_e (x_i - x_j) over the edges to i and those from i
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_rows.cuh"

namespace
{
template <class T> struct distances {
    struct mat y, x;

    template <int V> __device__ vec<V> terms(int64_t i, int64_t j, int64_t, int64_t k) const
    {
        vec<V> d = load<V>(entry<T>(x, i, k)) - load<V>(node_entry<T>(x, j, k));
        return d * d;
    }
    __device__ void put(int64_t number, float sum) const
    {
        store<1>(entry<T>(y, number, 0), {sum});
    }
};

template <class T> struct distance_gradients {
    struct mat dx, dy, x;
    struct edge_visits in, out;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> own = load<V>(entry<T>(x, i, k)), sum = begin_sum<V, T>(dx, i, k);
        auto add = [&](int64_t number, int64_t j) {
            float slope = 2 * load<1>(entry<T>(dy, number, 0)).at[0];
            sum = sum + (own - load<V>(node_entry<T>(x, j, k))) * slope;
        };
        each_edge(in, i, add);
        each_edge(out, i, add);
        store(entry<T>(dx, i, k), sum);
    }
};
} // namespace

extern "C" void cuda_edge_distance(const void *args)
{
    const struct edge_distance_args *a = (const struct edge_distance_args *)args;
    CUDA_CHECK(a->call, run_edge_sums<distances>(a->call, edges_received(a->adj), &a->x, 1, a->y, a->x));
}

extern "C" void cuda_edge_distance_backward(const void *args)
{
    const struct edge_distance_backward_args *a = (const struct edge_distance_backward_args *)args;
    const struct mat all[] = {a->dx, a->x};
    CUDA_CHECK(a->call, run_nodes<distance_gradients>(a->call, a->dx.rows, all, 2, a->dx, a->dy, a->x,
                                                      edges_received(a->adj), edges_sent(a->adj)));
}
