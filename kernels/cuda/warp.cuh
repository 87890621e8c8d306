/*
 * Reductions over the threads of a warp, all of which must take part and get the result. The summation order
 * is fixed.
 */
#ifndef GTMARK_KERNELS_CUDA_WARP_CUH
#define GTMARK_KERNELS_CUDA_WARP_CUH

#include "kernels/cuda/launch.h"

static const unsigned WHOLE_WARP = 0xffffffff;

/* The sum over each group of `count` consecutive threads, a power of two that divides WARP. */
__device__ static inline float sum_neighbours(float x, int count)
{
#pragma unroll
    for (int step = 1; step < count; step *= 2)
        x += __shfl_xor_sync(WHOLE_WARP, x, step);
    return x;
}

__device__ static inline float warp_sum(float x)
{
    return sum_neighbours(x, WARP);
}

__device__ static inline float warp_max(float x)
{
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        float other = __shfl_xor_sync(WHOLE_WARP, x, step);
        x = other > x ? other : x;
    }
    return x;
}

#endif
