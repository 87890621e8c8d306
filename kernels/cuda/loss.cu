/*
 * Mean squared and mean absolute error, cross-entropies, and their backwards.
 *
 *   mean_error      loss = sum of |y - target|^power / (N M)
 *                   dy (+)= dloss 2 / (N M) (y - target), or dloss / (N M) sign(y - target)
 *   cross_entropy   lse = log sum exp y of each row, loss = sum of (lse - y at the label) / N
 *                   dy (+)= dloss (exp(y - lse) - [k is the label]) / N
 *   binary_cross_entropy    loss = sum of (max(y, 0) + log1p(exp(-|y|)) - label y) / (N M)
 *                           dy (+)= dloss (1 / (1 + exp(-y)) - label) / (N M)
 *
 * A fixed number of blocks compute partial sums, in float per thread and in double per block; one block adds
 * these in order. In cross-entropy a team of lanes processes a row, and subtracts its largest entry before
 * exp, which is 2^(x log2 e): its error, 2^-24 |x|, only grows where it is small.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/math.h"

namespace
{
enum { LOSS_BLOCKS = 1024 };

struct launch loss_launch(struct launch l)
{
    l.grid_x = (unsigned)min_of(l.grid_x, LOSS_BLOCKS);
    return l;
}

/* loss = sum of the blocks' sums / count, by one block. */
__global__ void __launch_bounds__(BLOCK, 1)
    mean_of_parts(struct mat loss, const double *parts, int64_t blocks, double count)
{
    double sum = 0;
    for (int64_t b = threadIdx.x; b < blocks; b += BLOCK)
        sum += parts[b];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *entry(loss, 0, 0) = (float)(sum / count);
}

cuda_status run_mean(const struct call &call, struct mat loss, struct launch l, int64_t count)
{
    return run(call, launch_blocks(1, 1), mean_of_parts, loss, (const double *)call.scratch,
               (int64_t)l.grid_x, (double)count);
}

/* V consecutive labels, in loads of two. */
template <int V> struct alignas(V > 1 ? 16 : 8) labels {
    int64_t at[V];
};

template <int V> __device__ labels<V> labels_at(const struct mat &label, int64_t i, int64_t k)
{
    return *(const labels<V> *)((const int64_t *)label.data + i * label.ld + k);
}

/* Sums squares, or magnitudes. */
template <class T> struct distance_entries {
    struct mat y, target;
    bool squares;
    float *sum; /* of this thread */

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> apart = load<V>(entry<T>(y, i, k)) - load<V>(entry<T>(target, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            *sum += squares ? apart.at[v] * apart.at[v] : fabsf(apart.at[v]);
    }
};

/* log(1 + e), 0 <= e <= 1: what rounding adds to 1 + e is taken back (Higham 2002, section 1.14.1). */
__device__ float log_above_one(float e)
{
    float sum = 1 + e;
    return sum == 1 ? e : logf(sum) * (e / (sum - 1));
}

/* Sums losses of binary_cross_entropy. */
template <class T> struct binary_entries {
    struct mat y, label;
    float *sum;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> x = load<V>(entry<T>(y, i, k));
        const labels<V> is = labels_at<V>(label, i, k);
#pragma unroll
        for (int v = 0; v < V; v++)
            *sum += fmaxf(x.at[v], 0) + log_above_one(expf(-fabsf(x.at[v]))) - (is.at[v] ? x.at[v] : 0);
    }
};

template <class F, int V>
__global__ void __launch_bounds__(BLOCK, 1) sum_entries(struct lines l, const F given, double *parts)
{
    float mine = 0;
    F f = given;
    f.sum = &mine;
    do_entries<V>(l, f);
    double sum = block_sum((double)mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

/* The gradient of squares, or of magnitudes, which is 0 at 0. */
template <class T> struct error_entries {
    struct mat dy, y, target, dloss;
    bool squares;
    float scale;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> apart = load<V>(entry<T>(y, i, k)) - load<V>(entry<T>(target, i, k));
#pragma unroll
        for (int v = 0; v < V && !squares; v++)
            apart.at[v] = (float)((apart.at[v] > 0) - (apart.at[v] < 0));
        put(entry<T>(dy, i, k), dy.acc, apart * (*entry(dloss, 0, 0) * scale));
    }
};

/* log sum exp of row i, returned to every lane of the team. */
template <int V, class T>
__device__ float log_sum_exp(const struct row_teams &t, const struct mat &y, int64_t i)
{
    unsigned mask = team_mask(t.lanes);
    int first = (int)threadIdx.x % t.lanes * V, step = t.lanes * V;
    float top = -INFINITY, sum = 0;
    for (int64_t k = first; k < t.cols; k += step) {
        vec<V> x = load<V>(entry<T>(y, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            top = fmaxf(top, x.at[v]);
    }
    top = team_max(mask, t.lanes, top);
    for (int64_t k = first; k < t.cols; k += step) {
        vec<V> x = load<V>(entry<T>(y, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            sum += exp2f((x.at[v] - top) * LOG2E);
    }
    return top + logf(team_sum(mask, t.lanes, sum));
}

template <int V, class T>
__global__ void __launch_bounds__(BLOCK, 1)
    sum_losses(struct row_teams t, struct mat y, struct mat label, struct mat lse, double *parts)
{
    int teams = BLOCK / t.lanes;
    int64_t step = (int64_t)gridDim.x * teams;
    double mine = 0;
    for (int64_t i = (int64_t)blockIdx.x * teams + threadIdx.x / t.lanes; i < t.rows; i += step) {
        float all = log_sum_exp<V, T>(t, y, i);
        if (threadIdx.x % t.lanes > 0)
            continue;
        mine += all - load<1>(entry<T>(y, i, labels_at<1>(label, i, 0).at[0])).at[0];
        if (present(lse))
            *entry(lse, i, 0) = all;
    }
    double sum = block_sum(mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

template <class T> struct binary_gradients {
    struct mat dy, y, label, dloss;
    float share; /* 1 / (N M) */

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> slope = load<V>(entry<T>(y, i, k));
        const labels<V> is = labels_at<V>(label, i, k);
#pragma unroll
        for (int v = 0; v < V; v++)
            slope.at[v] = 1 / (1 + expf(-slope.at[v])) - (is.at[v] ? 1 : 0);
        put(entry<T>(dy, i, k), dy.acc, slope * (*entry(dloss, 0, 0) * share));
    }
};

template <class T> struct surprise_entries {
    struct mat dy, y, lse, label, dloss;
    float share; /* 1 / N */

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> slope = load<V>(entry<T>(y, i, k));
        float all = *entry(lse, i, 0), factor = share * *entry(dloss, 0, 0);
        int64_t which = labels_at<1>(label, i, 0).at[0] - k;
#pragma unroll
        for (int v = 0; v < V; v++)
            slope.at[v] = (exp2f((slope.at[v] - all) * LOG2E) - (v == which ? 1 : 0)) * factor;
        put(entry<T>(dy, i, k), dy.acc, slope);
    }
};

/* The mean over the entries of lines of what F adds up. */
template <class F>
cuda_status run_mean_of(const struct call &call, struct mat loss, struct lines l, const F &f)
{
    struct launch plan = loss_launch(lines_launch(l));
    cuda_status status = run(call, plan, l.width == WIDE ? sum_entries<F, WIDE> : sum_entries<F, 1>, l, f,
                             (double *)call.scratch);
    return status.fault ? status : run_mean(call, loss, plan, l.total);
}
} // namespace

extern "C" void cuda_mean_error(const void *args)
{
    const struct mean_error_args *a = (const struct mean_error_args *)args;
    const struct mat all[] = {a->y, a->target};
    struct lines l = lines_of(all, 2);
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   const distance_entries<decltype(zero)> f = {lines_view(l, a->y), lines_view(l, a->target),
                                                               a->power == 2, NULL};
                   return run_mean_of(a->call, a->loss, l, f);
               }));
}

extern "C" int64_t cuda_mean_error_scratch(const void *args)
{
    (void)args;
    return scratch_bytes(LOSS_BLOCKS, sizeof(double));
}

extern "C" void cuda_mean_error_backward(const void *args)
{
    const struct mean_error_backward_args *a = (const struct mean_error_backward_args *)args;
    const struct mat all[] = {a->dy, a->y, a->target};
    struct lines l = lines_of(all, 3);
    float scale = (float)((a->power == 2 ? 2 : 1) / (double)l.total);
    CUDA_CHECK(a->call,
               run_entries<error_entries>(a->call, a->y.dtype, l, lines_view(l, a->dy), lines_view(l, a->y),
                                          lines_view(l, a->target), a->dloss, a->power == 2, scale));
}

extern "C" void cuda_cross_entropy(const void *args)
{
    const struct cross_entropy_args *a = (const struct cross_entropy_args *)args;
    struct row_teams t = row_teams_of(a->y.rows, a->y.cols, width_of(&a->y, 1));
    struct launch plan = row_teams_launch(t, LOSS_BLOCKS);
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   typedef decltype(zero) T;
                   return run(a->call, plan, t.width == WIDE ? sum_losses<WIDE, T> : sum_losses<1, T>, t,
                              a->y, a->label, a->lse, (double *)a->call.scratch);
               }));
    CUDA_CHECK(a->call, run_mean(a->call, a->loss, plan, t.rows));
}

extern "C" int64_t cuda_cross_entropy_scratch(const void *args)
{
    (void)args;
    return scratch_bytes(LOSS_BLOCKS, sizeof(double));
}

extern "C" void cuda_cross_entropy_backward(const void *args)
{
    const struct cross_entropy_backward_args *a = (const struct cross_entropy_backward_args *)args;
    const struct mat all[] = {a->dy, a->y};
    struct lines l = lines_by_row(a->y.rows, a->y.cols, width_of(all, 2));
    CUDA_CHECK(a->call, run_entries<surprise_entries>(a->call, a->y.dtype, l, a->dy, a->y, a->lse, a->label,
                                                      a->dloss, (float)(1 / (double)a->y.rows)));
}

extern "C" void cuda_binary_cross_entropy(const void *args)
{
    const struct binary_cross_entropy_args *a = (const struct binary_cross_entropy_args *)args;
    const struct mat all[] = {a->y, a->label};
    struct lines l = lines_of(all, 2);
    CUDA_CHECK(
        a->call, by_type(a->y.dtype, [&](auto zero) {
            const binary_entries<decltype(zero)> f = {lines_view(l, a->y), lines_view(l, a->label), NULL};
            return run_mean_of(a->call, a->loss, l, f);
        }));
}

extern "C" int64_t cuda_binary_cross_entropy_scratch(const void *args)
{
    (void)args;
    return scratch_bytes(LOSS_BLOCKS, sizeof(double));
}

extern "C" void cuda_binary_cross_entropy_backward(const void *args)
{
    const struct binary_cross_entropy_backward_args *a =
        (const struct binary_cross_entropy_backward_args *)args;
    const struct mat all[] = {a->dy, a->y, a->label};
    struct lines l = lines_of(all, 3);
    CUDA_CHECK(a->call, run_entries<binary_gradients>(a->call, a->y.dtype, l, lines_view(l, a->dy),
                                                      lines_view(l, a->y), lines_view(l, a->label), a->dloss,
                                                      (float)(1 / (double)l.total)));
}
