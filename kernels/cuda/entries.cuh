/*
 * Elementwise ops: F::at<V>(i, k) processes entries k .. k + V - 1 of line i. See struct lines. The last
 * entries of a line that are fewer than V are processed one by one.
 */
#ifndef GTMARK_KERNELS_CUDA_ENTRIES_CUH
#define GTMARK_KERNELS_CUDA_ENTRIES_CUH

#include "kernels/cuda/reduce.cuh"

/* The entries of this thread. */
template <int V, class F> static __device__ void do_entries(const struct lines &l, const F &f)
{
    int lane = (int)threadIdx.x % l.lanes, teams = BLOCK / l.lanes;
    int64_t step = (int64_t)gridDim.x * teams;
    for (int64_t i = (int64_t)blockIdx.x * teams + threadIdx.x / l.lanes; i < l.rows; i += step) {
        int64_t cols = min_of(l.cols, l.total - i * l.cols);
        int64_t k = (int64_t)lane * V;
        for (; k + V <= cols; k += (int64_t)l.lanes * V)
            f.template at<V>(i, k);
#pragma unroll 1
        for (; V > 1 && k < cols; k++)
            f.template at<1>(i, k);
    }
}

template <int V, class F> __global__ void __launch_bounds__(BLOCK, 1) each_entry(struct lines l, const F f)
{
    do_entries<V>(l, f);
}

template <class F> static cuda_status run_entries(const struct call &call, struct lines l, const F &f)
{
    if (l.width == WIDE)
        return run(call, lines_launch(l), each_entry<WIDE, F>, l, f);
    return run(call, lines_launch(l), each_entry<1, F>, l, f);
}

/* The same for F<T> of these members, where T is the type of the entries (by_type). */
template <template <class> class F, class... Members>
static cuda_status run_entries(const struct call &call, enum dtype dtype, struct lines l,
                               const Members &...members)
{
    return by_type(dtype, [&](auto zero) {
        const F<decltype(zero)> f = {members...};
        return run_entries(call, l, f);
    });
}

#endif
