/*
 * Normalisation over all n_g D entries of each graph, and its backward. x, y: N x D, stats: B x 2.
 *
 *   y = (x - mean) rstd gain + bias     stats = [mean, rstd] of each graph
 *   n = (x - mean) rstd, g = dy gain     dx (+)= (g - mean(g) - n mean(g n)) rstd, means over the graph
 *   dgain (+)= sum of dy n, dbias (+)= sum of dy over rows
 *
 * Graphs are divided into blocks of rows (search.h), each summed by a thread block that sweeps it twice, the
 * second time from cache; a warp combines a graph's blocks in a fixed order, in double; then entries are
 * normalised. A large graph is spread over the device, a small one is a single block.
 */
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/graph_blocks.cuh"
#include "kernels/cuda/moments.h"

namespace
{
enum { BLOCK_ENTRIES = 8192 }; /* of x in a block of rows: 32 KiB */

struct graph_blocks norm_blocks(struct offsets graphs, struct mat x)
{
    return graph_blocks_of(graphs, x.rows, max_of(1, BLOCK_ENTRIES / x.cols));
}

/* The sum of f(i, k) over a block's entries, returned to every thread. */
template <int V, class F>
__device__ double sum_block(const struct lines &l, const struct row_block &b, const F &f)
{
    int lane = (int)threadIdx.x % l.lanes, team = (int)threadIdx.x / l.lanes, teams = BLOCK / l.lanes;
    float sum = 0;
    for (int64_t i = b.first + team; i < b.first + b.rows; i += teams)
        for (int64_t k = (int64_t)lane * V; k < l.cols; k += (int64_t)l.lanes * V)
            sum += f.template at<V>(i, k);
    return block_sum((double)sum);
}

template <class T> struct entry_sum {
    struct mat x;

    template <int V> __device__ float at(int64_t i, int64_t k) const
    {
        return sum_of(load<V>(entry<T>(x, i, k)));
    }
};

template <class T> struct square_sum {
    struct mat x;
    float mean;

    template <int V> __device__ float at(int64_t i, int64_t k) const
    {
        vec<V> centred = load<V>(entry<T>(x, i, k)) - mean;
        return sum_of(centred * centred);
    }
};

template <int V, class T>
__global__ void __launch_bounds__(BLOCK, 1)
    block_moments(struct graph_blocks blocks, struct lines l, struct mat x, struct moments *parts)
{
    for (int64_t number = blockIdx.x; number < blocks.count; number += gridDim.x) {
        struct row_block b = graph_block(blocks, number);
        if (b.rows == 0)
            continue;
        double count = (double)(b.rows * l.cols);
        const entry_sum<T> sum = {x};
        double mean = sum_block<V>(l, b, sum) / count;
        const square_sum<T> squares = {x, (float)mean};
        double m2 = sum_block<V>(l, b, squares), rounded = (float)mean - mean;
        if (threadIdx.x == 0)
            parts[number] = {count, mean, max(0.0, m2 - count * rounded * rounded)};
    }
}

/* One warp per graph; `statistics` is in scratch, stats may be absent. */
__global__ void __launch_bounds__(BLOCK, 1)
    graph_statistics(struct graph_blocks blocks, const struct moments *parts, struct mat statistics,
                     struct mat stats, double eps)
{
    int lane = threadIdx.x % WARP;
    int64_t step = (int64_t)gridDim.x * (BLOCK / WARP);
    for (int64_t g = (int64_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; g < blocks.graphs;
         g += step) {
        int64_t first = graph_block_first(blocks, g), count = graph_block_count(blocks, g);
        struct moments all = {0, 0, 0};
        for (int64_t p = lane; p < count; p += WARP)
            all = moments_union(all, parts[first + p]);
        for (int apart = WARP / 2; apart > 0; apart /= 2)
            all = moments_union(all, moments_from(all, apart));
        if (lane > 0)
            continue;
        float mean = (float)all.mean, rstd = (float)(1 / sqrt(all.m2 / all.count + eps));
        *entry(statistics, g, 0) = mean;
        *entry(statistics, g, 1) = rstd;
        if (present(stats)) {
            *entry(stats, g, 0) = mean;
            *entry(stats, g, 1) = rstd;
        }
    }
}

template <class T> struct graph_normal_entries {
    struct mat y, x, statistics, gain, bias;

    template <int V> __device__ void at(const struct row_block &b, int64_t i, int64_t k) const
    {
        float mean = *entry(statistics, b.graph, 0), rstd = *entry(statistics, b.graph, 1);
        vec<V> factor = load<V>(entry<T>(gain, 0, k)), shift = load<V>(entry<T>(bias, 0, k));
        store(entry<T>(y, i, k), (load<V>(entry<T>(x, i, k)) - mean) * rstd * factor + shift);
    }
};

/* Scratch: two numbers per graph, then the partial sums of the blocks. */
struct mat graph_pairs(struct call call, int64_t graphs)
{
    return scratch_mat(call, 0, graphs, 2);
}

int64_t graph_pairs_bytes(int64_t graphs)
{
    return scratch_bytes(2 * graphs, sizeof(float));
}

/* n and g = dy gain, rounded: of one entry g less its mean is 0, which a fused product would miss by a
 * rounding. */
template <int V> struct graph_part {
    vec<V> n, g;
};

template <class T> struct graph_slope {
    struct mat dx, dy, x, gain, stats;
};

template <int V, class T>
__device__ graph_part<V> read_part(const graph_slope<T> &w, int64_t graph, int64_t i, int64_t k)
{
    float mean = *entry(w.stats, graph, 0), rstd = *entry(w.stats, graph, 1);
    vec<V> slope = load<V>(entry<T>(w.dy, i, k)), factor = load<V>(entry<T>(w.gain, 0, k));
    graph_part<V> part = {(load<V>(entry<T>(w.x, i, k)) - mean) * rstd, {}};
#pragma unroll
    for (int v = 0; v < V; v++)
        part.g.at[v] = __fmul_rn(slope.at[v], factor.at[v]);
    return part;
}

/* Sums of g and g n. */
struct graph_sums {
    double g, gn;
};

template <int V, class T>
__global__ void __launch_bounds__(BLOCK, 1)
    block_sums(struct graph_blocks blocks, struct lines l, const graph_slope<T> w, struct graph_sums *parts)
{
    int lane = (int)threadIdx.x % l.lanes, team = (int)threadIdx.x / l.lanes, teams = BLOCK / l.lanes;
    for (int64_t number = blockIdx.x; number < blocks.count; number += gridDim.x) {
        struct row_block b = graph_block(blocks, number);
        float g = 0, gn = 0;
        for (int64_t i = b.first + team; i < b.first + b.rows; i += teams)
            for (int64_t k = (int64_t)lane * V; k < l.cols; k += (int64_t)l.lanes * V) {
                graph_part<V> part = read_part<V>(w, b.graph, i, k);
                g += sum_of(part.g);
                gn += sum_of(part.g * part.n);
            }
        struct graph_sums sums = {block_sum((double)g), block_sum((double)gn)};
        if (threadIdx.x == 0)
            parts[number] = sums;
    }
}

/* The means of g and g n over each graph, one warp per graph. */
__global__ void __launch_bounds__(BLOCK, 1)
    graph_means(struct graph_blocks blocks, int64_t cols, const struct graph_sums *parts, struct mat means)
{
    int lane = threadIdx.x % WARP;
    int64_t step = (int64_t)gridDim.x * (BLOCK / WARP);
    for (int64_t i = (int64_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; i < blocks.graphs;
         i += step) {
        int64_t first = graph_block_first(blocks, i), count = graph_block_count(blocks, i);
        double g = 0, gn = 0;
        for (int64_t p = lane; p < count; p += WARP) {
            g += parts[first + p].g;
            gn += parts[first + p].gn;
        }
        double entries = (double)((blocks.at[(i + 1) * blocks.ld] - blocks.at[i * blocks.ld]) * cols);
        g = team_sum(WHOLE_WARP, WARP, g) / entries;
        gn = team_sum(WHOLE_WARP, WARP, gn) / entries;
        if (lane == 0) {
            *entry(means, i, 0) = (float)g;
            *entry(means, i, 1) = (float)gn;
        }
    }
}

template <class T> struct graph_slope_entries {
    graph_slope<T> w;
    struct mat means;

    template <int V> __device__ void at(const struct row_block &b, int64_t i, int64_t k) const
    {
        float g = *entry(means, b.graph, 0), gn = *entry(means, b.graph, 1);
        float rstd = *entry(w.stats, b.graph, 1);
        graph_part<V> part = read_part<V>(w, b.graph, i, k);
        put(entry<T>(w.dx, i, k), w.dx.acc, (part.g - g - part.n * gn) * rstd);
    }
};

/* Column sums of dy and dy n; the graph of a row is looked up when the previous row's graph ends. */
template <class T> struct gain_sums {
    struct mat dy, x, stats;
    struct graph_blocks blocks;
    int64_t graph, end;

    __device__ void enter(int64_t i)
    {
        if (i < end)
            return;
        graph = range_of(blocks.at, blocks.ld, blocks.graphs, i);
        end = blocks.at[(graph + 1) * blocks.ld];
    }
    template <int V> __device__ void add(int64_t i, int64_t k, column_sums<V> &sums) const
    {
        float mean = *entry(stats, graph, 0), rstd = *entry(stats, graph, 1);
        vec<V> slope = load<V>(entry<T>(dy, i, k));
        sums.s = sums.s + slope;
        sums.t = sums.t + slope * ((load<V>(entry<T>(x, i, k)) - mean) * rstd);
    }
};

template <class T>
cuda_status run_dx(const struct graph_norm_backward_args *a, struct graph_blocks blocks, int width)
{
    struct lines l = lines_by_row(a->x.rows, a->x.cols, width);
    const graph_slope<T> w = {a->dx, a->dy, a->x, a->gain, a->stats};
    struct mat means = graph_pairs(a->call, blocks.graphs);
    struct graph_sums *parts = (struct graph_sums *)scratch_at(a->call, graph_pairs_bytes(blocks.graphs));
    const graph_slope_entries<T> f = {w, means};
    cuda_status status = run(a->call, launch_blocks(blocks.count, 1),
                             width == WIDE ? block_sums<WIDE, T> : block_sums<1, T>, blocks, l, w, parts);
    if (!status.fault)
        status = run(a->call, launch_blocks(blocks_of(blocks.graphs, BLOCK / WARP), 1), graph_means, blocks,
                     l.cols, parts, means);
    return status.fault ? status : run_block_entries(a->call, blocks, l, f);
}
} // namespace

extern "C" void cuda_graph_norm(const void *args)
{
    const struct graph_norm_args *a = (const struct graph_norm_args *)args;
    const struct mat all[] = {a->y, a->x, a->gain, a->bias};
    struct graph_blocks blocks = norm_blocks(a->graphs, a->x);
    struct lines l = lines_by_row(a->x.rows, a->x.cols, width_of(all, 4));
    struct mat statistics = graph_pairs(a->call, blocks.graphs);
    struct moments *parts = (struct moments *)scratch_at(a->call, graph_pairs_bytes(blocks.graphs));
    CUDA_CHECK(a->call, by_type(a->x.dtype, [&](auto zero) {
                   typedef decltype(zero) T;
                   return run(a->call, launch_blocks(blocks.count, 1),
                              l.width == WIDE ? block_moments<WIDE, T> : block_moments<1, T>, blocks, l, a->x,
                              parts);
               }));
    CUDA_CHECK(a->call, run(a->call, launch_blocks(blocks_of(blocks.graphs, BLOCK / WARP), 1),
                            graph_statistics, blocks, parts, statistics, a->stats, a->eps));
    CUDA_CHECK(a->call, run_block_entries<graph_normal_entries>(a->call, a->y.dtype, blocks, l, a->y, a->x,
                                                                statistics, a->gain, a->bias));
}

extern "C" int64_t cuda_graph_norm_scratch(const void *args)
{
    const struct graph_norm_args *a = (const struct graph_norm_args *)args;
    struct graph_blocks blocks = norm_blocks(a->graphs, a->x);
    return graph_pairs_bytes(blocks.graphs) + scratch_bytes(blocks.count, sizeof(struct moments));
}

extern "C" void cuda_graph_norm_backward(const void *args)
{
    const struct graph_norm_backward_args *a = (const struct graph_norm_backward_args *)args;
    const struct mat all[] = {a->dx, a->dy, a->x, a->gain};
    struct graph_blocks blocks = norm_blocks(a->graphs, a->x);
    int width = width_of(all, 4);
    if (mat_present(a->dgain) || mat_present(a->dbias)) {
        struct columns c = columns_of(a->x.rows, a->x.cols, width);
        const struct column_results to = {a->dbias, a->dgain, {}, 0};
        CUDA_CHECK(a->call, by_type(a->x.dtype, [&](auto zero) {
                       const gain_sums<decltype(zero)> sums = {a->dy, a->x, a->stats, blocks, 0, 0};
                       return run_columns(a->call, c, sums, (float *)a->call.scratch, to);
                   }));
    }
    if (mat_present(a->dx))
        CUDA_CHECK(a->call,
                   by_type(a->x.dtype, [&](auto zero) { return run_dx<decltype(zero)>(a, blocks, width); }));
}

/* dx is computed after dgain and dbias and reuses their scratch. */
extern "C" int64_t cuda_graph_norm_backward_scratch(const void *args)
{
    const struct graph_norm_backward_args *a = (const struct graph_norm_backward_args *)args;
    struct graph_blocks blocks = norm_blocks(a->graphs, a->x);
    int64_t dx = graph_pairs_bytes(blocks.graphs) + scratch_bytes(blocks.count, sizeof(struct graph_sums));
    return max_of(dx, columns_bytes(columns_of(a->x.rows, a->x.cols, WIDE).chunks, a->x.cols));
}
