/*
 * Activations on runs of consecutive elements; the mathematics is that of ref/activation.h. gelu_tanh is
 * written x s with the logistic s = (1 + tanh u) / 2 = 1 / (1 + exp(-2u)).
 */
#ifndef GTMARK_KERNELS_CPU_ACTIVATION_H
#define GTMARK_KERNELS_CPU_ACTIVATION_H

#include "kernels/cpu/vector_math.h"
#include "kernels/ops.h"

/* 2u = GELU_SLOPE (x + GELU_CUBIC x^3) */
#define GELU_SLOPE 1.5957691216f
#define GELU_CUBIC 0.044715f

static inline float gelu_tanh_gate(float x)
{
    return vm_logistic(GELU_SLOPE * x * (1.0f + GELU_CUBIC * x * x));
}

static inline float gelu_slope(float x)
{
    return vm_normal_cdf(x) + x * vm_normal_density(x);
}

static inline float gelu_tanh_slope(float x)
{
    float s = gelu_tanh_gate(x);
    return s + x * s * (1.0f - s) * GELU_SLOPE * (1.0f + 3.0f * GELU_CUBIC * x * x);
}

/* z = z + b, and y = act(z); z and y may be the same. */
static inline void activate(int act, int64_t n, float *z, const float *b, float *y)
{
    switch (act) {
    case ACT_GELU:
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            float x = z[j] + b[j];
            z[j] = x;
            y[j] = x * vm_normal_cdf(x);
        }
        break;
    case ACT_GELU_TANH:
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            float x = z[j] + b[j];
            z[j] = x;
            y[j] = x * gelu_tanh_gate(x);
        }
        break;
    case ACT_RELU:
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            float x = z[j] + b[j];
            z[j] = x;
            y[j] = x > 0 ? x : 0;
        }
        break;
    default:
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            float x = z[j] + b[j];
            z[j] = x;
            y[j] = x;
        }
    }
}

/* dz = dy act'(z) */
static inline void activate_backward(int act, int64_t n, const float *restrict z, const float *restrict dy,
                                     float *restrict dz)
{
    switch (act) {
    case ACT_GELU:
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dz[j] = dy[j] * gelu_slope(z[j]);
        break;
    case ACT_GELU_TANH:
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dz[j] = dy[j] * gelu_tanh_slope(z[j]);
        break;
    case ACT_RELU:
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dz[j] = z[j] > 0 ? dy[j] : 0;
        break;
    default:
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dz[j] = dy[j];
    }
}

#endif
