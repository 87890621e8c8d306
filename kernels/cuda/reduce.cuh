/*
 * Reductions over the lanes of a team and over a block, in a fixed order, so that results are reproducible.
 *
 * Kernels of BLOCK threads have __launch_bounds__(BLOCK, 1): the 1 keeps ptxas from spilling registers to fit
 * more blocks.
 *
 * A team is `lanes` consecutive lanes of a warp, a power of two; `mask` selects them within the warp. Teams
 * of a warp may diverge.
 */
#ifndef GTMARK_KERNELS_CUDA_REDUCE_CUH
#define GTMARK_KERNELS_CUDA_REDUCE_CUH

#include "kernels/cuda/math.h"
#include "kernels/cuda/matrix.cuh"
#include "kernels/cuda/moments.h"
#include "kernels/cuda/run.cuh"

static const unsigned WHOLE_WARP = 0xffffffff;

static __device__ inline unsigned team_mask(int lanes)
{
    return lanes == WARP ? WHOLE_WARP : ((1u << lanes) - 1) << (threadIdx.x % WARP / lanes * lanes);
}

/* Gives the same bits in every lane, since a + b = b + a. */
template <class T> __device__ inline T team_sum(unsigned mask, int lanes, T x)
{
#pragma unroll
    for (int apart = lanes / 2; apart > 0; apart /= 2)
        x += __shfl_xor_sync(mask, x, apart);
    return x;
}

/* NaN if a lane has NaN. */
static __device__ inline float team_max(unsigned mask, int lanes, float x)
{
#pragma unroll
    for (int apart = lanes / 2; apart > 0; apart /= 2)
        x = larger_of(x, __shfl_xor_sync(mask, x, apart));
    return x;
}

/* Those of the lane `apart` further. */
static __device__ inline struct moments moments_from(struct moments m, int apart)
{
    struct moments other = {__shfl_down_sync(WHOLE_WARP, m.count, apart),
                            __shfl_down_sync(WHOLE_WARP, m.mean, apart),
                            __shfl_down_sync(WHOLE_WARP, m.m2, apart)};
    return other;
}

/* The sum over all threads of the block, returned to each; all must call it. */
template <class T> __device__ inline T block_sum(T x)
{
    __shared__ T sums[BLOCK / WARP];
    x = team_sum(WHOLE_WARP, WARP, x);
    __syncthreads(); /* wait for reads of an earlier call */
    if (threadIdx.x % WARP == 0)
        sums[threadIdx.x / WARP] = x;
    __syncthreads();
    T sum = 0;
    for (int w = 0; w < BLOCK / WARP; w++)
        sum += sums[w];
    return sum;
}

#endif
