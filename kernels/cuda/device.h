/* The arithmetic of sizes and indices, 64-bit, on the host as on the device. */
#ifndef GTMARK_KERNELS_CUDA_DEVICE_H
#define GTMARK_KERNELS_CUDA_DEVICE_H

#include "kernels/both.h"

#include <stdbool.h>
#include <stdint.h>

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
