/*
 * What plain arithmetic of the device needs to be tested on the host from the same source: functions marked
 * GT_DEVICE are compiled for both by nvcc, and are ordinary C elsewhere. Sizes and indices are 64-bit.
 */
#ifndef GTMARK_KERNELS_CUDA_DEVICE_H
#define GTMARK_KERNELS_CUDA_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define GT_DEVICE __host__ __device__
#else
#define GT_DEVICE
#endif

GT_DEVICE static inline int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

GT_DEVICE static inline int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How many blocks of `size` cover n. */
GT_DEVICE static inline int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

GT_DEVICE static inline int64_t round_up(int64_t n, int64_t unit)
{
    return blocks_of(n, unit) * unit;
}

#endif
