/*
 * Arithmetic of single elements in float, the same source on the host and on the device.
 *
 * Activations (the mathematics is that of ref/activation.h):
 *   gelu(x) = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2
 *   gelu_tanh(x) = x s, s = (1 + tanh u) / 2 = 1 / (1 + exp(-2u)), 2u = GELU_SLOPE (x + GELU_CUBIC x^3)
 *
 * Online softmax (Milakov and Gimelshein 2018): a set of scores is summed up by its largest, `top`, and
 * sum = sum of 2^(score - top); the state of a union follows from the states of its parts. Scores are
 * exponents of 2, that is, scaled by log2(e). The empty set has top = -infinity and sum = 0.
 */
#ifndef GTMARK_KERNELS_CUDA_MATH_H
#define GTMARK_KERNELS_CUDA_MATH_H

#include "kernels/cuda/device.h"
#include "kernels/ops.h"

#include <math.h>

#define GELU_SLOPE      1.5957691216f /* 2 sqrt(2 / pi) */
#define GELU_CUBIC      0.044715f
#define SQRT_1_2        0.70710678119f /* 1 / sqrt 2 */
#define SQRT_1_OVER_2PI 0.39894228040f /* 1 / sqrt(2 pi) */
#define LOG2E           1.4426950409f
#define LN2             0.69314718056f

GT_DEVICE static inline float normal_cdf(float x)
{
    return 0.5f * (1.0f + erff(x * SQRT_1_2));
}

GT_DEVICE static inline float gelu_slope(float x)
{
    return normal_cdf(x) + x * (SQRT_1_OVER_2PI * expf(-0.5f * x * x));
}

GT_DEVICE static inline float twice_u(float x)
{
    return GELU_SLOPE * x * (1.0f + GELU_CUBIC * x * x);
}

/* s + x s (1 - s) 2u'; with t = exp(-|2u|), s (1 - s) = t / (1 + t)^2 does not cancel where s is nearly 1.
 * Where x^2 overflows, t is 0 and the derivative is that of the limit. */
GT_DEVICE static inline float gelu_tanh_slope(float x)
{
    float v = twice_u(x), t = expf(-fabsf(v)), r = 1.0f / (1.0f + t);
    float s = v < 0 ? t * r : r;
    return t > 0 ? s + x * (t * r * r) * GELU_SLOPE * (1.0f + 3.0f * GELU_CUBIC * x * x) : s;
}

/* act(x); act is a constant where speed matters. */
GT_DEVICE static inline float activation(int act, float x)
{
    switch (act) {
    case ACT_GELU:
        return x * normal_cdf(x);
    case ACT_GELU_TANH:
        return x / (1.0f + expf(-twice_u(x)));
    case ACT_RELU:
        return x > 0 ? x : 0;
    default:
        return x;
    }
}

/* dy act'(x) */
GT_DEVICE static inline float activation_backward(int act, float x, float dy)
{
    switch (act) {
    case ACT_GELU:
        return dy * gelu_slope(x);
    case ACT_GELU_TANH:
        return dy * gelu_tanh_slope(x);
    case ACT_RELU:
        return x > 0 ? dy : 0;
    default:
        return dy;
    }
}

/* What the sums of a part with this top weigh in a union with that one: 0 of an empty part, also in an empty
 * union, where the difference of the tops is not a number. */
GT_DEVICE static inline float softmax_weight(float part_top, float top)
{
    return part_top == -INFINITY ? 0.0f : exp2f(part_top - top);
}

/* The larger top of two parts. */
GT_DEVICE static inline float softmax_top(float a, float b)
{
    return a > b ? a : b;
}

/* The natural log of the sum of exp of the scores, before they were scaled by log2(e). */
GT_DEVICE static inline float softmax_lse(float top, float sum)
{
    return (top + log2f(sum)) * LN2;
}

#endif
