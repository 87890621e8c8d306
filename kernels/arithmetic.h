/*
 * Arithmetic of sizes and indices in 64 bits, one source for the host and for GPUs: nvcc compiles what is
 * marked GT_DEVICE for both; to a C compiler the mark is nothing.
 */
#ifndef GTMARK_KERNELS_ARITHMETIC_H
#define GTMARK_KERNELS_ARITHMETIC_H

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

/* How many blocks of `size` cover n: n / size, rounded up. */
GT_DEVICE static inline int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* The least multiple of `unit` that is at least n. */
GT_DEVICE static inline int64_t round_up(int64_t n, int64_t unit)
{
    return blocks_of(n, unit) * unit;
}

#endif
