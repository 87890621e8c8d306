/*
 * Mean, sum and maximum over the rows of each graph, and their backwards. x: N x D, y: B x D.
 *
 *   mean   y = sum of x / rows     dx (+)= dy / rows
 *   sum    y = sum of x            dx (+)= dy
 *   max    y = largest of x        dx (+)= dy / (number of largest entries) where x is y
 *
 * Graphs are divided into blocks of rows (search.h); a thread block reduces one, for a strip of columns, to a
 * row of scratch, and then each graph's rows of scratch are reduced in order. The backward of max counts the
 * largest entries in the same way. Backwards then process all entries, block by block.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/graph_blocks.cuh"

namespace
{
enum { BLOCK_ROWS = 64, BLOCKS_WANTED = 1024 };

struct graph_blocks pool_blocks(struct offsets graphs, int64_t rows)
{
    return graph_blocks_of(graphs, rows, max_of(BLOCK_ROWS, blocks_of(rows, BLOCKS_WANTED)));
}

/* How two values are combined, starting from `none`. */
struct sums {
    static __device__ float none()
    {
        return 0;
    }
    static __device__ float unite(float a, float b)
    {
        return a + b;
    }
};

struct largest {
    static __device__ float none()
    {
        return -INFINITY;
    }
    static __device__ float unite(float a, float b)
    {
        return larger_of(a, b);
    }
};

/* A reduction over the rows of each graph: of at(graph, i, k), by `rule`. */
template <class RULE, class T> struct all_rows {
    typedef RULE rule;
    struct mat x;

    template <int V> __device__ vec<V> at(int64_t, int64_t i, int64_t k) const
    {
        return load<V>(entry<T>(x, i, k));
    }
};

/* Counts the rows where x is the graph's largest. */
template <class T> struct count_rows {
    typedef sums rule;
    struct mat x, y;

    template <int V> __device__ vec<V> at(int64_t graph, int64_t i, int64_t k) const
    {
        vec<V> is = load<V>(entry<T>(x, i, k)), top = load<V>(entry<T>(y, graph, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            is.at[v] = is.at[v] == top.at[v];
        return is;
    }
};

/* Row `number` of parts: the reduction of block `number` by F; not written if the block is empty. */
template <int V, class F>
__global__ void __launch_bounds__(BLOCK, 1)
    reduce_blocks(struct graph_blocks blocks, struct columns c, const F f, struct mat parts)
{
    alignas(16) __shared__ float shared[V * BLOCK];
    int lane = (int)threadIdx.x % c.lanes, teams = BLOCK / c.lanes;
    for (int64_t number = blockIdx.x; number < blocks.count; number += gridDim.x) {
        struct row_block b = graph_block(blocks, number);
        for (int64_t strip = blockIdx.y; strip < c.strips && b.rows > 0; strip += gridDim.y) {
            int64_t first = strip * c.lanes * V, k = first + (int64_t)lane * V;
            vec<V> all = same<V>(F::rule::none());
            for (int64_t i = b.first + threadIdx.x / c.lanes; i < b.first + b.rows && k < c.cols;
                 i += teams) {
                vec<V> x = f.template at<V>(b.graph, i, k);
#pragma unroll
                for (int v = 0; v < V; v++)
                    all.at[v] = F::rule::unite(all.at[v], x.at[v]);
            }
            store_shared(shared + threadIdx.x * V, all);
            __syncthreads();
            int cols = V * c.lanes;
            for (int col = (int)threadIdx.x; col < cols; col += BLOCK) {
                float whole = F::rule::none();
                for (int from = col; from < V * BLOCK; from += cols)
                    whole = F::rule::unite(whole, shared[from]);
                if (first + col < c.cols)
                    *entry(parts, number, first + col) = whole;
            }
            __syncthreads(); /* before shared is written again */
        }
    }
}

/* y of each graph: its rows of parts reduced, and divided by its number of rows if `mean`. */
template <class F, class T>
__global__ void __launch_bounds__(BLOCK, 1)
    reduce_graphs(struct graph_blocks blocks, struct mat parts, struct mat y, bool mean)
{
    __shared__ float shared[BLOCK / WARP][WARP];
    int lane = threadIdx.x % WARP, team = threadIdx.x / WARP;
    int64_t strips = blocks_of(y.cols, WARP);
    for (int64_t g = blockIdx.x; g < blocks.graphs; g += gridDim.x) {
        int64_t first = graph_block_first(blocks, g), count = graph_block_count(blocks, g);
        for (int64_t strip = blockIdx.y; strip < strips; strip += gridDim.y) {
            int64_t k = strip * WARP + lane;
            float all = F::rule::none();
            for (int64_t p = team; p < count && k < y.cols; p += BLOCK / WARP)
                all = F::rule::unite(all, *entry(parts, first + p, k));
            shared[team][lane] = all;
            __syncthreads();
            if (team == 0 && k < y.cols) {
                for (int other = 1; other < BLOCK / WARP; other++)
                    all = F::rule::unite(all, shared[other][lane]);
                int64_t rows = blocks.at[(g + 1) * blocks.ld] - blocks.at[g * blocks.ld];
                store<1>(entry<T>(y, g, k), {mean ? all / (float)rows : all});
            }
            __syncthreads(); /* before shared is written again */
        }
    }
}

template <class T, class F>
cuda_status run_pool(const struct call &call, struct graph_blocks blocks, int64_t rows, int width, const F &f,
                     struct mat y, struct mat parts, bool mean)
{
    struct columns c = columns_of(rows, y.cols, width);
    struct launch plan = launch_blocks(blocks.count, c.strips);
    cuda_status status = width == WIDE ? run(call, plan, reduce_blocks<WIDE, F>, blocks, c, f, parts)
                                       : run(call, plan, reduce_blocks<1, F>, blocks, c, f, parts);
    if (status.fault)
        return status;
    plan = launch_blocks(blocks.graphs, blocks_of(y.cols, WARP));
    return run(call, plan, reduce_graphs<F, T>, blocks, parts, y, mean);
}

template <class RULE>
cuda_status pool(const struct call &call, struct offsets graphs, struct mat x, struct mat y, bool mean)
{
    struct graph_blocks blocks = pool_blocks(graphs, x.rows);
    struct mat parts = scratch_mat(call, 0, blocks.count, y.cols);
    return by_type(x.dtype, [&](auto zero) {
        typedef decltype(zero) T;
        const all_rows<RULE, T> f = {x};
        return run_pool<T>(call, blocks, x.rows, width_of(&x, 1), f, y, parts, mean);
    });
}

int64_t pool_scratch(struct offsets graphs, struct mat x)
{
    return scratch_bytes(pool_blocks(graphs, x.rows).count * x.cols, sizeof(float));
}

/* dx (+)= dy, divided by the graph's number of rows if `mean`. */
template <class T> struct share_entries {
    struct mat dx, dy;
    bool mean;

    template <int V> __device__ void at(const struct row_block &b, int64_t i, int64_t k) const
    {
        float share = mean ? 1 / (float)b.graph_rows : 1;
        put(entry<T>(dx, i, k), dx.acc, load<V>(entry<T>(dy, b.graph, k)) * share);
    }
};

cuda_status pool_backward(const struct call &call, struct offsets graphs, struct mat dx, struct mat dy,
                          bool mean)
{
    const struct mat all[] = {dx, dy};
    struct lines l = lines_by_row(dx.rows, dx.cols, width_of(all, 2));
    return run_block_entries<share_entries>(call, dx.dtype, pool_blocks(graphs, dx.rows), l, dx, dy, mean);
}

template <class T> struct largest_entries {
    struct mat dx, dy, x, y, counts;

    template <int V> __device__ void at(const struct row_block &b, int64_t i, int64_t k) const
    {
        vec<V> x_ik = load<V>(entry<T>(x, i, k)), top = load<V>(entry<T>(y, b.graph, k));
        vec<V> share = load<V>(entry<T>(dy, b.graph, k)), count = load<V>(entry(counts, b.graph, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            share.at[v] = x_ik.at[v] == top.at[v] ? share.at[v] / count.at[v] : 0;
        put(entry<T>(dx, i, k), dx.acc, share);
    }
};

/* Scratch: the number of largest entries, B x D, then the blocks' counts. */
int64_t counts_bytes(struct mat dy)
{
    return scratch_bytes(mat_size(dy), sizeof(float));
}
} // namespace

extern "C" void cuda_mean_pool(const void *args)
{
    const struct mean_pool_args *a = (const struct mean_pool_args *)args;
    CUDA_CHECK(a->call, pool<sums>(a->call, a->graphs, a->x, a->y, true));
}

extern "C" int64_t cuda_mean_pool_scratch(const void *args)
{
    const struct mean_pool_args *a = (const struct mean_pool_args *)args;
    return pool_scratch(a->graphs, a->x);
}

extern "C" void cuda_sum_pool(const void *args)
{
    const struct sum_pool_args *a = (const struct sum_pool_args *)args;
    CUDA_CHECK(a->call, pool<sums>(a->call, a->graphs, a->x, a->y, false));
}

extern "C" int64_t cuda_sum_pool_scratch(const void *args)
{
    const struct sum_pool_args *a = (const struct sum_pool_args *)args;
    return pool_scratch(a->graphs, a->x);
}

extern "C" void cuda_max_pool(const void *args)
{
    const struct max_pool_args *a = (const struct max_pool_args *)args;
    CUDA_CHECK(a->call, pool<largest>(a->call, a->graphs, a->x, a->y, false));
}

extern "C" int64_t cuda_max_pool_scratch(const void *args)
{
    const struct max_pool_args *a = (const struct max_pool_args *)args;
    return pool_scratch(a->graphs, a->x);
}

extern "C" void cuda_mean_pool_backward(const void *args)
{
    const struct mean_pool_backward_args *a = (const struct mean_pool_backward_args *)args;
    CUDA_CHECK(a->call, pool_backward(a->call, a->graphs, a->dx, a->dy, true));
}

extern "C" void cuda_sum_pool_backward(const void *args)
{
    const struct sum_pool_backward_args *a = (const struct sum_pool_backward_args *)args;
    CUDA_CHECK(a->call, pool_backward(a->call, a->graphs, a->dx, a->dy, false));
}

extern "C" void cuda_max_pool_backward(const void *args)
{
    const struct max_pool_backward_args *a = (const struct max_pool_backward_args *)args;
    const struct mat all[] = {a->dx, a->dy, a->x, a->y};
    int width = width_of(all, 4);
    struct graph_blocks blocks = pool_blocks(a->graphs, a->x.rows);
    struct mat counts = scratch_mat(a->call, 0, a->dy.rows, a->dy.cols);
    struct mat parts = scratch_mat(a->call, counts_bytes(a->dy), blocks.count, a->dy.cols);
    CUDA_CHECK(a->call, by_type(a->x.dtype, [&](auto zero) {
                   const count_rows<decltype(zero)> f = {a->x, a->y};
                   return run_pool<float>(a->call, blocks, a->x.rows, width, f, counts, parts, false);
               }));
    CUDA_CHECK(a->call, run_block_entries<largest_entries>(a->call, a->x.dtype, blocks,
                                                           lines_by_row(a->x.rows, a->x.cols, width), a->dx,
                                                           a->dy, a->x, a->y, counts));
}

extern "C" int64_t cuda_max_pool_backward_scratch(const void *args)
{
    const struct max_pool_backward_args *a = (const struct max_pool_backward_args *)args;
    return counts_bytes(a->dy) + pool_scratch(a->graphs, a->x);
}
