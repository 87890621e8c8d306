/*
 * The logarithm of a softmax's denominator, lse, is saved in double: with large scores it is their largest
 * and a far smaller rest, which float would round away. As an exponent of 2 it is two floats, of which the
 * first is subtracted from scores, exactly where they are close.
 *
 * The product with log2 e is rounded: p is within 3e-16 |lse| of exact. Beyond 2^40 the rest is left out.
 */
#ifndef GTMARK_KERNELS_SOFTMAX_BASE_H
#define GTMARK_KERNELS_SOFTMAX_BASE_H

#include "kernels/arithmetic.h"

#include <math.h>

struct softmax_base {
    float high, rest;
};

GT_DEVICE static inline struct softmax_base softmax_base_of(double lse)
{
    double base = lse * M_LOG2E;
    struct softmax_base s = {(float)base, 0};
    if (fabs(base) < 0x1p40)
        s.rest = (float)(base - (double)s.high);
    return s;
}

#endif
