/*
 * Activation functions and their derivatives.
 *
 *   gelu(x)      = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2              (Hendrycks and Gimpel 2016)
 *   gelu'(x)     = Phi(x) + x phi(x), phi(x) = exp(-x^2 / 2) / sqrt(2 pi)
 *   gelu_tanh(x) = x (1 + t) / 2, t = tanh(u), u = sqrt(2 / pi) (x + c x^3), c = 0.044715   (ibid.)
 *   gelu_tanh'   = (1 + t) / 2 + x / 2 (1 - t^2) sqrt(2 / pi) (1 + 3 c x^2)
 *   relu(x)      = max(x, 0), with derivative 0 at 0
 */
#ifndef GTMARK_KERNELS_REF_ACTIVATION_H
#define GTMARK_KERNELS_REF_ACTIVATION_H

#include "kernels/ref/loops.h"

#define SQRT_1_2        0.70710678118654752440 /* 1 / sqrt 2 */
#define SQRT_2_OVER_PI  0.79788456080286535588 /* sqrt(2 / pi) */
#define SQRT_1_OVER_2PI 0.39894228040143267794 /* 1 / sqrt(2 pi) */
#define GELU_CUBIC      0.044715

static inline real gelu(real x)
{
    return R(0.5) * x * (R(1) + r_erf(x * R(SQRT_1_2)));
}

static inline real gelu_backward(real x, real dy)
{
    real cdf = R(0.5) * (R(1) + r_erf(x * R(SQRT_1_2)));
    real pdf = R(SQRT_1_OVER_2PI) * r_exp(R(-0.5) * x * x);
    return dy * (cdf + x * pdf);
}

static inline real gelu_tanh(real x)
{
    real u = R(SQRT_2_OVER_PI) * (x + R(GELU_CUBIC) * x * x * x);
    return R(0.5) * x * (R(1) + r_tanh(u));
}

static inline real gelu_tanh_backward(real x, real dy)
{
    real xx = x * x;
    real t = r_tanh(R(SQRT_2_OVER_PI) * (x + R(GELU_CUBIC) * xx * x));
    real du = R(SQRT_2_OVER_PI) * (R(1) + R(3 * GELU_CUBIC) * xx);
    return dy * (R(0.5) * (R(1) + t) + R(0.5) * x * (R(1) - t * t) * du);
}

/* act(x) */
static inline real activate(int act, real x)
{
    switch (act) {
    case ACT_GELU:
        return gelu(x);
    case ACT_GELU_TANH:
        return gelu_tanh(x);
    case ACT_RELU:
        return r_max(x, R(0));
    default:
        return x;
    }
}

/* dy act'(x) */
static inline real activate_backward(int act, real x, real dy)
{
    switch (act) {
    case ACT_GELU:
        return gelu_backward(x, dy);
    case ACT_GELU_TANH:
        return gelu_tanh_backward(x, dy);
    case ACT_RELU:
        return r_gate(x, dy);
    default:
        return dy;
    }
}

#endif
