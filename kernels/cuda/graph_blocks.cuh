/*
 * Kernels over blocks of rows within one graph (search.h): thread blocks loop over them by number; within
 * one, teams of lanes process the rows.
 */
#ifndef GTMARK_KERNELS_CUDA_GRAPH_BLOCKS_CUH
#define GTMARK_KERNELS_CUDA_GRAPH_BLOCKS_CUH

#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/search.h"

/* The offsets of a batch, divided into `count` blocks of at most `size` rows. */
struct graph_blocks {
    const int64_t *at;
    int64_t ld, graphs, size, count;
};

static inline struct graph_blocks graph_blocks_of(struct offsets graphs, int64_t rows, int64_t size)
{
    int64_t B = graph_count(graphs);
    struct graph_blocks b = {(const int64_t *)graphs.at.data, graphs.at.ld, B, size,
                             block_count(rows, B, size)};
    return b;
}

static __device__ inline struct row_block graph_block(const struct graph_blocks &b, int64_t number)
{
    return block_at(b.at, b.ld, b.graphs, b.size, number);
}

/* The number of nonempty blocks of a graph; they come first. */
static __device__ inline int64_t graph_block_count(const struct graph_blocks &b, int64_t graph)
{
    return blocks_of(b.at[(graph + 1) * b.ld] - b.at[graph * b.ld], b.size);
}

static __device__ inline int64_t graph_block_first(const struct graph_blocks &b, int64_t graph)
{
    return block_first(b.at, b.ld, b.size, graph);
}

/*
 * Calls F::at<V>(block, i, k) for all entries of each nonempty block; `l` maps lanes to the entries of a row.
 */
template <int V, class F>
__global__ void __launch_bounds__(BLOCK, 1)
    each_block_entry(struct graph_blocks blocks, struct lines l, const F f)
{
    int lane = (int)threadIdx.x % l.lanes, team = (int)threadIdx.x / l.lanes, teams = BLOCK / l.lanes;
    for (int64_t number = blockIdx.x; number < blocks.count; number += gridDim.x) {
        struct row_block b = graph_block(blocks, number);
        for (int64_t i = b.first + team; i < b.first + b.rows; i += teams)
            for (int64_t k = (int64_t)lane * V; k < l.cols; k += (int64_t)l.lanes * V)
                f.template at<V>(b, i, k);
    }
}

template <class F>
static cuda_status run_block_entries(const struct call &call, struct graph_blocks blocks, struct lines l,
                                     const F &f)
{
    struct launch plan = launch_blocks(blocks.count, 1);
    if (l.width == WIDE)
        return run(call, plan, each_block_entry<WIDE, F>, blocks, l, f);
    return run(call, plan, each_block_entry<1, F>, blocks, l, f);
}

/* The same for F<T> of these members, where T is the type of the entries (by_type). */
template <template <class> class F, class... Members>
static cuda_status run_block_entries(const struct call &call, enum dtype dtype, struct graph_blocks blocks,
                                     struct lines l, const Members &...members)
{
    return by_type(dtype, [&](auto zero) {
        const F<decltype(zero)> f = {members...};
        return run_block_entries(call, blocks, l, f);
    });
}

#endif
