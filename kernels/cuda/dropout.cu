/*
 * Dropout (kernels/mask.h): y = x / (1 - p) where kept, otherwise 0; dx (+)= dy / (1 - p) with the same mask.
 * The step is read from schedule = [t, lr] in device memory, so that replays of a captured program advance.
 * Vector loads begin at even entries, so two entries share a word of random bits.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/mask.h"

namespace
{
struct dropout_work {
    struct mat y, x;
    const double *schedule; /* t, lr */
    uint64_t site;
    uint32_t least;
    float scale;
};

template <class T> struct dropout_entries {
    const struct dropout_work &w;
    int64_t cols; /* of a line: packed or not, entry (i, k) of the lines has number i cols + k */
    uint64_t key;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        uint64_t n = (uint64_t)(i * cols + k), word = rng_bits(key, n >> 1);
        vec<V> x = load<V>(entry<T>(w.x, i, k));
#pragma unroll
        for (int v = 0; v < V; v++) {
            if (v > 0 && v % 2 == 0)
                word = rng_bits(key, (n >> 1) + v / 2);
            uint32_t number = (uint32_t)((n + v) & 1 ? word >> 32 : word);
            x.at[v] = number >= w.least ? __fmul_rn(x.at[v], w.scale) : 0.0f; /* not fused with put's sum */
        }
        put(entry<T>(w.y, i, k), w.y.acc, x);
    }
};

template <int V, class T>
__global__ void __launch_bounds__(BLOCK, 1) drop(struct lines l, const struct dropout_work w)
{
    const dropout_entries<T> entries = {w, l.cols, rng_bits(w.site, (uint64_t)*w.schedule)};
    do_entries<V>(l, entries);
}

cuda_status run_dropout(const struct call &call, struct mat y, struct mat x, struct mat schedule,
                        uint64_t key, double p)
{
    const struct mat all[] = {y, x};
    struct lines l = lines_of(all, 2);
    struct mask m = mask_of(key, 0, p);
    const dropout_work w = {lines_view(l, y), lines_view(l, x), (const double *)schedule.data, key,
                            m.least,          (float)m.scale};
    return by_type(y.dtype, [&](auto zero) {
        typedef decltype(zero) T;
        return run(call, lines_launch(l), l.width == WIDE ? drop<WIDE, T> : drop<1, T>, l, w);
    });
}
} // namespace

extern "C" void cuda_dropout(const void *args)
{
    const struct dropout_args *a = (const struct dropout_args *)args;
    CUDA_CHECK(a->call, run_dropout(a->call, a->y, a->x, a->schedule, a->key, a->p));
}

extern "C" void cuda_dropout_backward(const void *args)
{
    const struct dropout_backward_args *a = (const struct dropout_backward_args *)args;
    CUDA_CHECK(a->call, run_dropout(a->call, a->dx, a->dy, a->schedule, a->key, a->p));
}
