/*
 * Activations of one element in float, one source for kernels/cpu and kernels/cuda; the mathematics is that
 * of ref/activation.h. Before including this header, define in float, as functions or macros, for real x:
 *
 *   normal_cdf(x)         Phi(x) = (1 + erf(x / sqrt 2)) / 2
 *   normal_density(x)     exp(-x^2 / 2) / sqrt(2 pi)
 *   exponential(x)        exp(x), for x <= 0
 *   times_logistic(x, v)  x / (1 + exp(-v))
 *
 * gelu_tanh(x) = x s, s = (1 + tanh u) / 2 = 1 / (1 + exp(-2u)), 2u = GELU_SLOPE (x + GELU_CUBIC x^3).
 */
#ifndef GTMARK_KERNELS_ACTIVATION_H
#define GTMARK_KERNELS_ACTIVATION_H

#include "kernels/arithmetic.h"
#include "kernels/ops.h"

#include <math.h>

#define GELU_SLOPE 1.5957691216f /* 2 sqrt(2 / pi) */
#define GELU_CUBIC 0.044715f

GT_DEVICE static inline float twice_u(float x)
{
    return GELU_SLOPE * x * (1.0f + GELU_CUBIC * x * x);
}

GT_DEVICE static inline float gelu_slope(float x)
{
    return normal_cdf(x) + x * normal_density(x);
}

/*
 * s + x s (1 - s) 2u'; with t = exp(-|2u|), s (1 - s) = t / (1 + t)^2 does not cancel if s is near 1. If x^2
 * overflows, t is 0 and the derivative is its limit.
 */
GT_DEVICE static inline float gelu_tanh_slope(float x)
{
    float v = twice_u(x), t = exponential(-fabsf(v)), r = 1.0f / (1.0f + t);
    float s = v < 0 ? t * r : r;
    return t > 0 ? s + x * (t * r * r) * GELU_SLOPE * (1.0f + 3.0f * GELU_CUBIC * x * x) : s;
}

/* act(x); make act a constant where speed matters. */
GT_DEVICE static inline float activation(int act, float x)
{
    switch (act) {
    case ACT_GELU:
        return x * normal_cdf(x);
    case ACT_GELU_TANH:
        return times_logistic(x, twice_u(x));
    case ACT_RELU:
        return x <= 0 ? 0 : x; /* NaN stays */
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

#endif
