/*
 * The bias of attention, P x H: a pair's heads are neighbours, so that a head's pairs are `ld` apart. Who
 * reads or writes it takes the heads of a cache line one after another, on one core.
 */
#ifndef GTMARK_KERNELS_CPU_PAIR_BIAS_H
#define GTMARK_KERNELS_CPU_PAIR_BIAS_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vector_math.h"

#include <float.h>

INLINE void pair_bias_add_by(int64_t n, float *restrict s, const float *restrict bias, int64_t ld)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        s[j] += bias[j * ld] * VM_LOG2E;
}

/* Adds the bias of n pairs to their scores, which are exponents of 2. Known strides are vector loads. */
static inline void pair_bias_add(int64_t n, float *restrict s, const float *restrict bias, int64_t ld)
{
    if (ld == 4)
        pair_bias_add_by(n, s, bias, 4);
    else if (ld == 8)
        pair_bias_add_by(n, s, bias, 8);
    else
        pair_bias_add_by(n, s, bias, ld);
}

INLINE void pair_bias_put_by(int64_t n, int heads, float *restrict to, int64_t ld, bool acc,
                             const float *restrict ds, int64_t apart)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        for (int h = 0; h < heads; h++)
            to[j * ld + h] = (acc ? to[j * ld + h] : 0) + ds[h * apart + j];
}

/* dbias (+)= ds of n pairs, a head's `apart` from those of the next: whole lines, of known strides at once.
 */
static inline void pair_bias_put(int64_t n, int heads, float *restrict to, int64_t ld, bool acc,
                                 const float *restrict ds, int64_t apart)
{
    if (ld == 4 && heads == 4)
        pair_bias_put_by(n, 4, to, 4, acc, ds, apart);
    else if (ld == 8 && heads == 8)
        pair_bias_put_by(n, 8, to, 8, acc, ds, apart);
    else
        for (int h = 0; h < heads; h++)
            pair_bias_put_by(n, 1, to + h, ld, acc, ds + h * apart, 0);
}

/* The largest score that is subtracted, or lse: not -inf, so that hidden pairs have 2^-inf = 0. */
static inline float pair_bias_top(float top)
{
    return vm_larger(-FLT_MAX, top);
}

#endif
