/*
 * Arithmetic of sizes and indices in 64 bits, one source for host and GPUs: nvcc compiles GT_DEVICE functions
 * for both; for a C compiler the macro is empty.
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

/* The number of blocks of `size` that cover n: n / size, rounded up. */
GT_DEVICE static inline int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/* The smallest multiple of `unit` that is at least n. */
GT_DEVICE static inline int64_t round_up(int64_t n, int64_t unit)
{
    return blocks_of(n, unit) * unit;
}

#endif
