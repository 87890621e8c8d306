/* An activation alone: y = act(x), dx (+)= dy act'(x). */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/math.h"

namespace
{
template <int ACT, class T> struct activate_entries {
    struct mat y, x;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> z = load<V>(entry<T>(x, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            z.at[v] = activation(ACT, z.at[v]);
        store(entry<T>(y, i, k), z);
    }
};

template <int ACT, class T> struct slope_entries {
    struct mat dx, dy, x;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> z = load<V>(entry<T>(x, i, k)), d = load<V>(entry<T>(dy, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            d.at[v] = activation_backward(ACT, z.at[v], d.at[v]);
        put(entry<T>(dx, i, k), dx.acc, d);
    }
};

template <int ACT> cuda_status run_forward(const struct activate_args *a)
{
    const struct mat all[] = {a->y, a->x};
    struct lines l = lines_of(all, 2);
    return by_type(a->y.dtype, [&](auto zero) {
        const activate_entries<ACT, decltype(zero)> f = {lines_view(l, a->y), lines_view(l, a->x)};
        return run_entries(a->call, l, f);
    });
}

template <int ACT> cuda_status run_backward(const struct activate_backward_args *a)
{
    const struct mat all[] = {a->dx, a->dy, a->x};
    struct lines l = lines_of(all, 3);
    return by_type(a->dx.dtype, [&](auto zero) {
        const slope_entries<ACT, decltype(zero)> f = {lines_view(l, a->dx), lines_view(l, a->dy),
                                                      lines_view(l, a->x)};
        return run_entries(a->call, l, f);
    });
}
} // namespace

extern "C" void cuda_activate(const void *args)
{
    const struct activate_args *a = (const struct activate_args *)args;
    CUDA_CHECK(a->call, a->act == ACT_GELU        ? run_forward<ACT_GELU>(a)
                        : a->act == ACT_GELU_TANH ? run_forward<ACT_GELU_TANH>(a)
                        : a->act == ACT_RELU      ? run_forward<ACT_RELU>(a)
                                                  : run_forward<ACT_NONE>(a));
}

extern "C" void cuda_activate_backward(const void *args)
{
    const struct activate_backward_args *a = (const struct activate_backward_args *)args;
    CUDA_CHECK(a->call, a->act == ACT_GELU        ? run_backward<ACT_GELU>(a)
                        : a->act == ACT_GELU_TANH ? run_backward<ACT_GELU_TANH>(a)
                        : a->act == ACT_RELU      ? run_backward<ACT_RELU>(a)
                                                  : run_backward<ACT_NONE>(a));
}
