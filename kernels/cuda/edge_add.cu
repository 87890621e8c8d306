/*
 * A row for each edge e: j -> i, as in ref/edge_add.c:
 *
 *   y_e = a_i + b_j + c_e    da_i (+)= sum of dy over the edges to i    db_j (+)= sum of dy over the edges
 * from j
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_rows.cuh"

namespace
{
template <class T> struct edge_sums {
    struct mat y, a, b, c;
    struct edge_visits in;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> own = load<V>(entry<T>(a, i, k));
        each_edge(in, i, [&](int64_t number, int64_t j) {
            vec<V> sum = own + load<V>(node_entry<T>(b, j, k));
            if (present(c))
                sum = sum + load<V>(entry<T>(c, number, k));
            store(entry<T>(y, number, k), sum);
        });
    }
};

template <class T> struct edge_gradients {
    struct mat dx, dy;
    struct edge_visits edges;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = begin_sum<V, T>(dx, i, k);
        each_edge(edges, i, [&](int64_t number, int64_t) { sum = sum + load<V>(entry<T>(dy, number, k)); });
        store(entry<T>(dx, i, k), sum);
    }
};

/* Of one end of the edges; nothing if that gradient is absent. */
cuda_status run_gradient(const struct call &call, struct mat dx, struct mat dy, struct edge_visits edges)
{
    const struct mat all[] = {dx, dy};
    return mat_present(dx) ? run_nodes<edge_gradients>(call, dx.rows, all, 2, dx, dy, edges)
                           : cuda_status(cudaSuccess);
}
} // namespace

extern "C" void cuda_edge_add(const void *args)
{
    const struct edge_add_args *a = (const struct edge_add_args *)args;
    const struct mat all[] = {a->a, a->b, a->c, a->y};
    CUDA_CHECK(a->call, run_nodes<edge_sums>(a->call, a->a.rows, all, 4, a->y, a->a, a->b, a->c,
                                             edges_received(a->adj)));
}

extern "C" void cuda_edge_add_backward(const void *args)
{
    const struct edge_add_backward_args *a = (const struct edge_add_backward_args *)args;
    CUDA_CHECK(a->call, run_gradient(a->call, a->da, a->dy, edges_received(a->adj)));
    CUDA_CHECK(a->call, run_gradient(a->call, a->db, a->dy, edges_sent(a->adj)));
}
