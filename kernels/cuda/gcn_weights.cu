/* The weights of GCN, as in ref/gcn_weights.c: s_i = (1 + edges from others to i)^-1/2, u_i = (1 - loops)
 * s_i. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_rows.cuh"

namespace
{
/* One thread for each node: k is 0. */
template <class T> struct node_weights {
    struct mat w;
    struct edge_visits in;

    template <int V> __device__ void at(int64_t i, int64_t) const
    {
        int64_t edges = 0, loops = 0;
        each_edge(in, i, [&](int64_t, int64_t j) {
            edges++;
            loops += j == i;
        });
        float s = 1 / sqrtf((float)(1 + edges - loops));
        store<1>(entry<T>(w, i, 0), {s});
        store<1>(entry<T>(w, i, 1), {(float)(1 - loops) * s});
    }
};
} // namespace

extern "C" void cuda_gcn_weights(const void *args)
{
    const struct gcn_weights_args *a = (const struct gcn_weights_args *)args;
    struct lines l = lines_by_row(a->w.rows, 1, 1);
    CUDA_CHECK(a->call, by_type(a->w.dtype, [&](auto zero) {
                   typedef node_weights<decltype(zero)> weights;
                   const weights f = {a->w, edges_received(a->adj)};
                   return run(a->call, lines_launch(l), each_entry<1, weights>, l, f);
               }));
}
