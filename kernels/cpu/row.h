/*
 * The largest entry of a row: what softmax and cross-entropy begin with.
 */
#ifndef GTMARK_KERNELS_CPU_ROW_H
#define GTMARK_KERNELS_CPU_ROW_H

#include "kernels/cpu/vector_math.h"

/* Floats and integers in the same order: of negative ones the magnitude's bits are turned over. Its own
 * inverse. */
static inline int32_t row_ordered(uint32_t bits)
{
    return (int32_t)(bits ^ (((uint32_t) - (int32_t)(bits >> 31)) >> 1));
}

/* By integers, since compilers vectorise no maximum of floats that might be NaN. */
static inline float row_largest(int64_t n, const float *x)
{
    int32_t top = INT32_MIN;
#pragma omp simd reduction(max : top)
    for (int64_t k = 0; k < n; k++) {
        int32_t its = row_ordered(vm_bits(x[k]));
        top = its > top ? its : top;
    }
    return vm_float((uint32_t)row_ordered((uint32_t)top));
}

#endif
