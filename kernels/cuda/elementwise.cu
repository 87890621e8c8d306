/* Elementwise: add y = a + b, copy y (+)= x, fill y = value, cast y = x, rounded to
 * the type of y, scale_rows y_i = w_i x_i, dx_i (+)= w_i dy_i. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"

namespace
{
template <class T> struct add_entries {
    struct mat y, a, b;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        store(entry<T>(y, i, k), load<V>(entry<T>(a, i, k)) + load<V>(entry<T>(b, i, k)));
    }
};

template <class T> struct copy_entries {
    struct mat y, x;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        put(entry<T>(y, i, k), y.acc, load<V>(entry<T>(x, i, k)));
    }
};

template <class T> struct cast_entries {
    struct mat y, x;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        store(entry<T>(y, i, k), load<V>(entry(x, i, k)));
    }
};

template <class T> struct fill_entries {
    struct mat y;
    float value;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        store(entry<T>(y, i, k), same<V>(value));
    }
};

template <class T> struct scaled_entries {
    struct mat y, x, w;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        put(entry<T>(y, i, k), y.acc, load<V>(entry<T>(x, i, k)) * load<1>(entry<T>(w, i, 0)).at[0]);
    }
};

cuda_status run_scaled(const struct call &call, struct mat y, struct mat x, struct mat w)
{
    const struct mat all[] = {y, x};
    return run_entries<scaled_entries>(call, y.dtype, lines_by_row(y.rows, y.cols, width_of(all, 2)), y, x,
                                       w);
}
} // namespace

extern "C" void cuda_add(const void *args)
{
    const struct add_args *a = (const struct add_args *)args;
    const struct mat all[] = {a->y, a->a, a->b};
    struct lines l = lines_of(all, 3);
    CUDA_CHECK(a->call, run_entries<add_entries>(a->call, a->y.dtype, l, lines_view(l, a->y),
                                                 lines_view(l, a->a), lines_view(l, a->b)));
}

extern "C" void cuda_copy(const void *args)
{
    const struct copy_args *a = (const struct copy_args *)args;
    const struct mat all[] = {a->y, a->x};
    struct lines l = lines_of(all, 2);
    CUDA_CHECK(a->call,
               run_entries<copy_entries>(a->call, a->y.dtype, l, lines_view(l, a->y), lines_view(l, a->x)));
}

extern "C" void cuda_fill(const void *args)
{
    const struct fill_args *a = (const struct fill_args *)args;
    struct lines l = lines_of(&a->y, 1);
    CUDA_CHECK(a->call,
               run_entries<fill_entries>(a->call, a->y.dtype, l, lines_view(l, a->y), (float)a->value));
}

extern "C" void cuda_cast(const void *args)
{
    const struct cast_args *a = (const struct cast_args *)args;
    const struct mat all[] = {a->y, a->x};
    struct lines l = lines_of(all, 2);
    CUDA_CHECK(a->call,
               run_entries<cast_entries>(a->call, a->y.dtype, l, lines_view(l, a->y), lines_view(l, a->x)));
}

extern "C" void cuda_scale_rows(const void *args)
{
    const struct scale_rows_args *a = (const struct scale_rows_args *)args;
    CUDA_CHECK(a->call, run_scaled(a->call, a->y, a->x, a->w));
}

extern "C" void cuda_scale_rows_backward(const void *args)
{
    const struct scale_rows_backward_args *a = (const struct scale_rows_backward_args *)args;
    CUDA_CHECK(a->call, run_scaled(a->call, a->dx, a->dy, a->w));
}
