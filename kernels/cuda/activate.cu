/* An activation alone: y = act(x), dx (+)= dy act'(x). */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/math.h"

namespace
{
template <class T> struct activate_entries {
    struct mat y, x;
    int act;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> z = load<V>(entry<T>(x, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            z.at[v] = activation(act, z.at[v]);
        store(entry<T>(y, i, k), z);
    }
};

template <class T> struct activation_slopes {
    struct mat dx, dy, x;
    int act;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> z = load<V>(entry<T>(x, i, k)), d = load<V>(entry<T>(dy, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            d.at[v] = activation_backward(act, z.at[v], d.at[v]);
        put(entry<T>(dx, i, k), dx.acc, d);
    }
};
} // namespace

extern "C" void cuda_activate(const void *args)
{
    const struct activate_args *a = (const struct activate_args *)args;
    const struct mat all[] = {a->y, a->x};
    struct lines l = lines_of(all, 2);
    CUDA_CHECK(a->call, run_entries<activate_entries>(a->call, a->y.dtype, l, lines_view(l, a->y),
                                                      lines_view(l, a->x), a->act));
}

extern "C" void cuda_activate_backward(const void *args)
{
    const struct activate_backward_args *a = (const struct activate_backward_args *)args;
    const struct mat all[] = {a->dx, a->dy, a->x};
    struct lines l = lines_of(all, 3);
    CUDA_CHECK(a->call, run_entries<activation_slopes>(a->call, a->dx.dtype, l, lines_view(l, a->dx),
                                                       lines_view(l, a->dy), lines_view(l, a->x), a->act));
}
