/*
 * Batch normalisation of each column, training and inference, and its backward. x, y: N x D.
 *
 *   y = (x - mean) rstd gain + bias     stats = [mean; rstd], 2 x D
 *   running = (1 - momentum) running + momentum [mean, m2 / (N - 1)]     m2 = sum of (x - mean)^2
 *   n = (x - mean) rstd, s = sum dy, t = sum dy n     dx (+)= (dy - s / N - n t / N) gain rstd
 *
 * Three steps. Blocks process chunks of rows (struct columns): each thread updates mean and m2 of its entries
 * by Welford's algorithm, which does not cancel. One thread per column combines the chunks in order, in
 * double. Then every entry is normalised. The sums of the backward pass are those of columns.cuh.
 */
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/moments.h"

namespace
{
template <int V> struct welford {
    int count;
    vec<V> mean, m2;
};

template <int V> __device__ void follow(welford<V> &w, vec<V> x)
{
    float share = 1.0f / (float)++w.count;
    vec<V> apart = x - w.mean;
    w.mean = w.mean + apart * share;
    w.m2 = w.m2 + apart * (x - w.mean);
}

/*
 * Combines, in order, the moments of `rows` rows, which the block's teams processed in turn, for columns
 * first .. first + lanes V - 1: of column k to to[k] (mean) and to[D + k] (m2).
 */
template <int V>
__device__ void write_moments(const welford<V> &mine, int lanes, int64_t rows, int64_t first, int64_t D,
                              float *to, float (*shared)[V * BLOCK])
{
    int teams = BLOCK / lanes, cols = V * lanes;
    store_shared(shared[0] + threadIdx.x * V, mine.mean);
    store_shared(shared[1] + threadIdx.x * V, mine.m2);
    __syncthreads();
    for (int col = (int)threadIdx.x; col < cols; col += BLOCK) {
        int64_t k = first + col;
        struct moments all = {0, 0, 0};
        for (int team = 0; team < teams && team < rows; team++) {
            struct moments part = {(double)blocks_of(rows - team, teams), shared[0][team * cols + col],
                                   shared[1][team * cols + col]};
            all = moments_union(all, part);
        }
        if (k < D) {
            to[k] = (float)all.mean;
            to[D + k] = (float)all.m2;
        }
    }
    __syncthreads(); /* before shared is written again */
}

template <int V, class T>
__global__ void __launch_bounds__(BLOCK, 1) column_moments(struct columns c, struct mat x, float *partial)
{
    alignas(16) __shared__ float shared[2][V * BLOCK];
    int lane = (int)threadIdx.x % c.lanes, teams = BLOCK / c.lanes;
    int64_t begin = (int64_t)blockIdx.x * c.chunk, end = min_of(c.rows, begin + c.chunk);
    for (int64_t strip = blockIdx.y; strip < c.strips; strip += gridDim.y) {
        int64_t first = strip * c.lanes * V, k = first + (int64_t)lane * V;
        welford<V> mine = {0, same<V>(0), same<V>(0)};
        for (int64_t i = begin + threadIdx.x / c.lanes; i < end && k < c.cols; i += teams)
            follow(mine, load<V>(entry<T>(x, i, k)));
        write_moments<V>(mine, c.lanes, end - begin, first, c.cols, partial + blockIdx.x * 2 * c.cols,
                         shared);
    }
}

/* Outputs for the moments of a column; `statistics` is in scratch, the others may be absent. */
struct batch_results {
    struct mat statistics, stats, running_mean, running_var;
    double eps, momentum;
};

__device__ void move(const struct mat &running, int64_t k, double momentum, double value)
{
    if (present(running))
        *entry(running, 0, k) = (float)((1 - momentum) * *entry(running, 0, k) + momentum * value);
}

__global__ void __launch_bounds__(BLOCK, 1)
    column_statistics(struct columns c, const float *partial, struct batch_results to)
{
    __shared__ struct moments shared[TOTAL_WARPS][TOTAL_COLUMNS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, column = lane % TOTAL_COLUMNS;
    int64_t k = (int64_t)blockIdx.x * TOTAL_COLUMNS + column;
    struct moments all = {0, 0, 0};
    for (int64_t chunk = threadIdx.x / TOTAL_COLUMNS; chunk < c.chunks && k < c.cols; chunk += TOTAL_TEAMS) {
        int64_t rows = min_of(c.chunk, c.rows - chunk * c.chunk);
        struct moments part = {(double)rows, partial[chunk * 2 * c.cols + k],
                               partial[(chunk * 2 + 1) * c.cols + k]};
        all = moments_union(all, part);
    }
    for (int apart = TOTAL_COLUMNS; apart < WARP; apart *= 2)
        all = moments_union(all, moments_from(all, apart));
    if (lane < TOTAL_COLUMNS)
        shared[warp][column] = all;
    __syncthreads();
    if (threadIdx.x >= TOTAL_COLUMNS || k >= c.cols)
        return;
    for (int other = 1; other < TOTAL_WARPS; other++)
        all = moments_union(all, shared[other][column]);
    float mean = (float)all.mean, rstd = (float)(1 / sqrt(all.m2 / all.count + to.eps));
    *entry(to.statistics, 0, k) = mean;
    *entry(to.statistics, 1, k) = rstd;
    if (present(to.stats)) {
        *entry(to.stats, 0, k) = mean;
        *entry(to.stats, 1, k) = rstd;
    }
    move(to.running_mean, k, to.momentum, all.mean);
    move(to.running_var, k, to.momentum, all.m2 / (all.count > 1 ? all.count - 1 : 1));
}

template <int V> __device__ vec<V> normalised(vec<V> x, vec<V> mean, vec<V> rstd, vec<V> gain, vec<V> bias)
{
    return (x - mean) * rstd * gain + bias;
}

template <class T> struct normal_entries {
    struct mat y, x, statistics, gain, bias;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        store(entry<T>(y, i, k), normalised(load<V>(entry<T>(x, i, k)), load<V>(entry(statistics, 0, k)),
                                            load<V>(entry(statistics, 1, k)), load<V>(entry<T>(gain, 0, k)),
                                            load<V>(entry<T>(bias, 0, k))));
    }
};

/* Scratch: two numbers per column, then the chunks' sums. */
struct mat column_pairs(struct call call, int64_t D)
{
    return scratch_mat(call, 0, 2, round_up(D, WIDE));
}

float *chunk_sums(struct call call, int64_t D)
{
    return (float *)scratch_at(call, scratch_bytes(2 * round_up(D, WIDE), sizeof(float)));
}

int64_t batch_scratch(struct mat x)
{
    return scratch_bytes(2 * round_up(x.cols, WIDE), sizeof(float)) +
           columns_bytes(columns_of(x.rows, x.cols, WIDE).chunks, x.cols);
}

template <class T> struct inference_entries {
    struct mat y, x, gain, bias, mean, var;
    float eps;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> rstd = load<V>(entry(var, 0, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            rstd.at[v] = 1 / sqrtf(rstd.at[v] + eps);
        store(entry<T>(y, i, k), normalised(load<V>(entry<T>(x, i, k)), load<V>(entry(mean, 0, k)), rstd,
                                            load<V>(entry<T>(gain, 0, k)), load<V>(entry<T>(bias, 0, k))));
    }
};

/* s = sum of dy and t = sum of dy n. */
template <class T> struct batch_sums {
    struct mat dy, x, stats;

    __device__ void enter(int64_t)
    {
    }
    template <int V> __device__ void add(int64_t i, int64_t k, column_sums<V> &sums) const
    {
        vec<V> slope = load<V>(entry<T>(dy, i, k)), mean = load<V>(entry(stats, 0, k));
        sums.s = sums.s + slope;
        sums.t = sums.t + slope * ((load<V>(entry<T>(x, i, k)) - mean) * load<V>(entry(stats, 1, k)));
    }
};

template <class T> struct slope_entries {
    struct mat dx, dy, x, stats, gain, means; /* means: of dy and of dy n, by column */

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> slope = load<V>(entry<T>(dy, i, k)), rstd = load<V>(entry(stats, 1, k));
        vec<V> n = (load<V>(entry<T>(x, i, k)) - load<V>(entry(stats, 0, k))) * rstd;
        vec<V> s = load<V>(entry(means, 0, k)), t = load<V>(entry(means, 1, k));
        put(entry<T>(dx, i, k), dx.acc, (slope - s - n * t) * (load<V>(entry<T>(gain, 0, k)) * rstd));
    }
};
} // namespace

extern "C" void cuda_batch_norm(const void *args)
{
    const struct batch_norm_args *a = (const struct batch_norm_args *)args;
    const struct mat all[] = {a->y, a->x, a->gain, a->bias};
    struct columns c = columns_of(a->x.rows, a->x.cols, width_of(all, 4));
    struct mat statistics = column_pairs(a->call, a->x.cols);
    float *partial = chunk_sums(a->call, a->x.cols);
    const struct batch_results to = {statistics,     a->stats, a->running_mean,
                                     a->running_var, a->eps,   a->momentum};
    CUDA_CHECK(a->call, by_type(a->x.dtype, [&](auto zero) {
                   typedef decltype(zero) T;
                   return run(a->call, columns_launch(c),
                              c.width == WIDE ? column_moments<WIDE, T> : column_moments<1, T>, c, a->x,
                              partial);
               }));
    CUDA_CHECK(a->call, run(a->call, launch_blocks(blocks_of(c.cols, TOTAL_COLUMNS), 1), column_statistics, c,
                            partial, to));
    CUDA_CHECK(a->call,
               run_entries<normal_entries>(a->call, a->y.dtype, lines_by_row(a->y.rows, a->y.cols, c.width),
                                           a->y, a->x, statistics, a->gain, a->bias));
}

extern "C" int64_t cuda_batch_norm_scratch(const void *args)
{
    return batch_scratch(((const struct batch_norm_args *)args)->x);
}

extern "C" void cuda_batch_norm_inference(const void *args)
{
    const struct batch_norm_inference_args *a = (const struct batch_norm_inference_args *)args;
    const struct mat all[] = {a->y, a->x, a->gain, a->bias, a->running_mean, a->running_var};
    struct lines l = lines_by_row(a->y.rows, a->y.cols, width_of(all, 6));
    CUDA_CHECK(a->call, run_entries<inference_entries>(a->call, a->y.dtype, l, a->y, a->x, a->gain, a->bias,
                                                       a->running_mean, a->running_var, (float)a->eps));
}

extern "C" void cuda_batch_norm_backward(const void *args)
{
    const struct batch_norm_backward_args *a = (const struct batch_norm_backward_args *)args;
    const struct mat all[] = {a->dx, a->dy, a->x, a->gain, a->stats};
    struct columns c = columns_of(a->x.rows, a->x.cols, width_of(all, 5));
    struct mat means = column_pairs(a->call, a->x.cols);
    const struct column_results to = {a->dbias, a->dgain, means, c.rows};
    CUDA_CHECK(a->call, by_type(a->x.dtype, [&](auto zero) {
                   const batch_sums<decltype(zero)> sums = {a->dy, a->x, a->stats};
                   return run_columns(a->call, c, sums, chunk_sums(a->call, a->x.cols), to);
               }));
    if (!mat_present(a->dx))
        return;
    CUDA_CHECK(a->call,
               run_entries<slope_entries>(a->call, a->x.dtype, lines_by_row(a->x.rows, a->x.cols, c.width),
                                          a->dx, a->dy, a->x, a->stats, a->gain, means));
}

extern "C" int64_t cuda_batch_norm_backward_scratch(const void *args)
{
    return batch_scratch(((const struct batch_norm_backward_args *)args)->x);
}
