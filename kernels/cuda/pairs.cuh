/*
 * The offset of each graph's pairs in the rows of an H x P matrix (kernels/ops.def): the sum of the squared
 * sizes of the preceding graphs. Sizes are only known on the device, so the prefix sum is computed there, in
 * scratch.
 */
#ifndef GTMARK_KERNELS_CUDA_PAIRS_CUH
#define GTMARK_KERNELS_CUDA_PAIRS_CUH

#include "kernels/cuda/run.cuh"
#include "kernels/offsets.h"

/* first[g] = offset of the pairs of graph g; one block. Each thread processes a range of graphs. */
static __global__ void __launch_bounds__(BLOCK, 1) find_pairs(int64_t *first, struct offsets graphs)
{
    __shared__ int64_t sums[BLOCK];
    int64_t count = graph_count(graphs), share = blocks_of(count, BLOCK);
    int64_t begin = min_of(threadIdx.x * share, count), end = min_of(begin + share, count);
    int64_t own = 0;
    for (int64_t g = begin; g < end; g++) {
        int64_t n = graph_size(graphs, g);
        own += n * n;
    }
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        int64_t before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    int64_t sum = sums[threadIdx.x] - own;
    for (int64_t g = begin; g < end; g++) {
        int64_t n = graph_size(graphs, g);
        first[g] = sum;
        sum += n * n;
    }
}

/* Sets *first to the offsets, or for a single graph, whose pairs begin at 0, to null. */
static inline cuda_status run_pairs(const struct call &call, struct offsets graphs, const int64_t **first)
{
    *first = NULL;
    if (graph_count(graphs) == 1)
        return cudaSuccess;
    *first = (const int64_t *)call.scratch;
    return run(call, launch_blocks(1, 1), find_pairs, (int64_t *)call.scratch, graphs);
}

/* Scratch bytes of run_pairs. */
static inline int64_t pairs_scratch(struct offsets graphs)
{
    return graph_count(graphs) == 1 ? 0 : graph_count(graphs) * (int64_t)sizeof(int64_t);
}

#endif
