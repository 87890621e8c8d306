/*
 * Activations of one element, to be inlined in loops over many; the mathematics is that of ref/activation.h.
 * gelu_tanh is written x s with the logistic s = (1 + tanh u) / 2 = 1 / (1 + exp(-2u)).
 */
#ifndef GTMARK_KERNELS_CPU_ACTIVATION_H
#define GTMARK_KERNELS_CPU_ACTIVATION_H

#include "kernels/cpu/vector_math.h"
#include "kernels/ops.h"

/* 2u = GELU_SLOPE (x + GELU_CUBIC x^3) */
#define GELU_SLOPE 1.5957691216f
#define GELU_CUBIC 0.044715f

static inline float twice_u(float x)
{
    return GELU_SLOPE * x * (1.0f + GELU_CUBIC * x * x);
}

static inline float gelu_slope(float x)
{
    return vm_normal_cdf(x) + x * vm_normal_density(x);
}

/* s + x s (1 - s) 2u'; with t = exp(-|2u|), s (1 - s) = t / (1 + t)^2 does not cancel where s is nearly 1. */
static inline float gelu_tanh_slope(float x)
{
    float v = twice_u(x), t = vm_exp(v < 0 ? v : -v), r = 1.0f / (1.0f + t);
    float s = v < 0 ? t * r : r;
    return s + x * (t * r * r) * GELU_SLOPE * (1.0f + 3.0f * GELU_CUBIC * x * x);
}

/* act(x); act is a constant where this is inlined. */
static inline float activation(int act, float x)
{
    switch (act) {
    case ACT_GELU:
        return x * vm_normal_cdf(x);
    case ACT_GELU_TANH:
        return x * vm_logistic(twice_u(x));
    case ACT_RELU:
        return x > 0 ? x : 0;
    default:
        return x;
    }
}

/* dy act'(x) */
static inline float activation_backward(int act, float x, float dy)
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
