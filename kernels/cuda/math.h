/*
 * Arithmetic of single elements in float, the same source on the host and on the device: the activations of
 * kernels/activation.h over the functions of the C library, and softmax.
 *
 * Online softmax (Milakov and Gimelshein 2018): a set of scores is summed up by its largest, `top`, and
 * sum = sum of 2^(score - top); the state of a union follows from the states of its parts. Scores are
 * exponents of 2, that is, scaled by log2(e). The empty set has top = -infinity and sum = 0.
 */
#ifndef GTMARK_KERNELS_CUDA_MATH_H
#define GTMARK_KERNELS_CUDA_MATH_H

#include "kernels/arithmetic.h"
#include "kernels/softmax_base.h"

#include <math.h>

#define SQRT_1_2        0.70710678119f /* 1 / sqrt 2 */
#define SQRT_1_OVER_2PI 0.39894228040f /* 1 / sqrt(2 pi) */
#define LOG2E           1.4426950409f
#define LN2             0.69314718056f

GT_DEVICE static inline float normal_cdf(float x)
{
    return 0.5f * (1.0f + erff(x * SQRT_1_2));
}

GT_DEVICE static inline float normal_density(float x)
{
    return SQRT_1_OVER_2PI * expf(-0.5f * x * x);
}

GT_DEVICE static inline float times_logistic(float x, float v)
{
    return x / (1.0f + expf(-v));
}

#define exponential(x) expf(x)

#include "kernels/activation.h"

/* The larger one; NaN if one of them is. */
GT_DEVICE static inline float larger_of(float a, float b)
{
    return a > b || a != a ? a : b;
}

/*
 * Scale factor of a part's sums in a union with this top: 0 for an empty part, even in an empty union, where
 * the difference of the tops is NaN.
 */
GT_DEVICE static inline float softmax_weight(float part_top, float top)
{
    return part_top == -INFINITY ? 0.0f : exp2f(part_top - top);
}

/* The top of a union. */
GT_DEVICE static inline float softmax_top(float a, float b)
{
    return a > b ? a : b;
}

/* The natural log of the sum of exp of the unscaled scores. */
GT_DEVICE static inline double softmax_lse(float top, float sum)
{
    return ((double)top + log2f(sum)) * M_LN2;
}

/* The share in the softmax of a score that has the bits it had in `top`. */
GT_DEVICE static inline float softmax_share(float score, struct softmax_base s)
{
    return exp2f(score - s.high - s.rest);
}

#endif
