/*
 * Layer normalisation of each row, and of the rows of a sum.
 *
 *   y = (x - mean) rstd gain + bias     stats = [mean, rstd]     x, y: N x D, gain, bias: 1 x D, stats: N x 2
 *
 * A team of lanes holds a row in registers, so that it is read once and the variance can use a second pass; a
 * row of D = 64 takes half a warp. Rows that do not fit in registers, or are not aligned, are swept three
 * times.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/reduce.cuh"

namespace
{
/* The input: x, or a + b, which is stored if `sum` is present. */
template <class T> struct one_row {
    typedef T type;
    struct mat x;

    template <int V> __device__ vec<V> read(int64_t i, int64_t k) const
    {
        return load<V>(entry<T>(x, i, k));
    }
    template <int V> __device__ void keep(int64_t, int64_t, vec<V>) const
    {
    }
};

template <class T> struct sum_of_rows {
    typedef T type;
    struct mat sum, a, b;

    template <int V> __device__ vec<V> read(int64_t i, int64_t k) const
    {
        return load<V>(entry<T>(a, i, k)) + load<V>(entry<T>(b, i, k));
    }
    template <int V> __device__ void keep(int64_t i, int64_t k, vec<V> x) const
    {
        if (present(sum))
            store(entry<T>(sum, i, k), x);
    }
};

struct norm_work {
    struct mat y, stats, gain, bias;
    float eps;
};

template <int V> __device__ float squares_of(vec<V> x, float mean)
{
    return sum_of((x - mean) * (x - mean));
}

template <class T, int V>
__device__ void write_normalised(const struct norm_work &w, int64_t i, int64_t k, vec<V> x, float mean,
                                 float rstd)
{
    vec<V> gain = load<V>(entry<T>(w.gain, 0, k)), bias = load<V>(entry<T>(w.bias, 0, k));
    store(entry<T>(w.y, i, k), (x - mean) * rstd * gain + bias);
}

__device__ float rstd_of(const struct norm_work &w, int64_t i, bool first_lane, float mean, float var)
{
    float rstd = 1 / sqrtf(var + w.eps);
    if (first_lane && present(w.stats)) {
        *entry(w.stats, i, 0) = mean;
        *entry(w.stats, i, 1) = rstd;
    }
    return rstd;
}

template <int V, int ITEMS, class F>
__global__ void __launch_bounds__(BLOCK, 1)
    normalise(struct row_teams t, const F from, const struct norm_work w)
{
    unsigned mask = team_mask(t.lanes);
    int lane = (int)threadIdx.x % t.lanes, teams = BLOCK / t.lanes;
    int64_t step = (int64_t)gridDim.x * teams;
    for (int64_t i = (int64_t)blockIdx.x * teams + threadIdx.x / t.lanes; i < t.rows; i += step) {
        vec<V> x[ITEMS];
        float sum = 0, squares = 0;
#pragma unroll
        for (int n = 0; n < ITEMS; n++) {
            int64_t k = (int64_t)(n * t.lanes + lane) * V;
            x[n] = k < t.cols ? from.template read<V>(i, k) : same<V>(0);
            sum += sum_of(x[n]);
        }
        float mean = team_sum(mask, t.lanes, sum) / (float)t.cols;
#pragma unroll
        for (int n = 0; n < ITEMS; n++)
            squares += (n * t.lanes + lane) * V < t.cols ? squares_of(x[n], mean) : 0;
        float rstd = rstd_of(w, i, lane == 0, mean, team_sum(mask, t.lanes, squares) / (float)t.cols);
#pragma unroll
        for (int n = 0; n < ITEMS; n++) {
            int64_t k = (int64_t)(n * t.lanes + lane) * V;
            if (k < t.cols) {
                from.keep(i, k, x[n]);
                write_normalised<typename F::type>(w, i, k, x[n], mean, rstd);
            }
        }
    }
}

/* The same for other rows, one warp per row. */
template <int V, class F>
__global__ void __launch_bounds__(BLOCK, 1)
    normalise_long(struct row_teams t, const F from, const struct norm_work w)
{
    int64_t first = (int64_t)(threadIdx.x % WARP) * V, step = (int64_t)gridDim.x * (BLOCK / WARP);
    for (int64_t i = (int64_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; i < t.rows; i += step) {
        float sum = 0, squares = 0;
        for (int64_t k = first; k < t.cols; k += WARP * V)
            sum += sum_of(from.template read<V>(i, k));
        float mean = team_sum(WHOLE_WARP, WARP, sum) / (float)t.cols;
        for (int64_t k = first; k < t.cols; k += WARP * V)
            squares += squares_of(from.template read<V>(i, k), mean);
        float rstd = rstd_of(w, i, first == 0, mean, team_sum(WHOLE_WARP, WARP, squares) / (float)t.cols);
        for (int64_t k = first; k < t.cols; k += WARP * V) {
            vec<V> x = from.template read<V>(i, k);
            from.keep(i, k, x);
            write_normalised<typename F::type>(w, i, k, x, mean, rstd);
        }
    }
}

template <class F>
cuda_status run_normalise(const struct call &call, int width, const F &from, const struct norm_work &w)
{
    struct row_teams t = row_teams_of(w.y.rows, w.y.cols, width);
    struct launch plan = row_teams_launch(t, LAUNCH_MAX_X);
    switch (t.items) {
    case 1:
        return run(call, plan, normalise<WIDE, 1, F>, t, from, w);
    case 2:
        return run(call, plan, normalise<WIDE, 2, F>, t, from, w);
    case 4:
        return run(call, plan, normalise<WIDE, 4, F>, t, from, w);
    case 8:
        return run(call, plan, normalise<WIDE, 8, F>, t, from, w);
    default:
        return run(call, plan, width == WIDE ? normalise_long<WIDE, F> : normalise_long<1, F>, t, from, w);
    }
}
} // namespace

extern "C" void cuda_layer_norm(const void *args)
{
    const struct layer_norm_args *a = (const struct layer_norm_args *)args;
    const struct mat all[] = {a->y, a->x, a->gain, a->bias};
    const struct norm_work w = {a->y, a->stats, a->gain, a->bias, (float)a->eps};
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   const one_row<decltype(zero)> from = {a->x};
                   return run_normalise(a->call, width_of(all, 4), from, w);
               }));
}

extern "C" void cuda_add_layer_norm(const void *args)
{
    const struct add_layer_norm_args *a = (const struct add_layer_norm_args *)args;
    const struct mat all[] = {a->y, a->sum, a->a, a->b, a->gain, a->bias};
    const struct norm_work w = {a->y, a->stats, a->gain, a->bias, (float)a->eps};
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   const sum_of_rows<decltype(zero)> from = {a->sum, a->a, a->b};
                   return run_normalise(a->call, width_of(all, 6), from, w);
               }));
}
