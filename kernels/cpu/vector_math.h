/*
 * Exponential and normal distribution function in float, branch-free, so that a loop over them vectorises on
 * any instruction set. Selections are conditional expressions, rounding is the addition of 1.5 * 2^23 (which
 * the compiler must not reassociate: no -ffast-math).
 *
 * The polynomials are minimax fits: Lawson's iteratively reweighted least squares on 400 Chebyshev points
 * against 40-digit values, the coefficients then rounded to float. Errors stated are the largest that
 * tests/test_vector_math.c allows, against the double functions of libm.
 */
#ifndef GTMARK_KERNELS_CPU_VECTOR_MATH_H
#define GTMARK_KERNELS_CPU_VECTOR_MATH_H

#include <stdint.h>

/*
 * e^x, within 1.2 units in the last place. Results below 2^-125 (x < -86.64) are 0, x > 88.72 gives infinity, NaN
 * gives NaN.
 *
 * x = n ln 2 + r with |r| <= ln(2)/2 and ln 2 split in two (Cody and Waite, "Software Manual for the Elementary
 * Functions", 1980); e^r = 1 + r + r^2 q(r), fitted to 3e-9 relative. 2^n is made in two steps since n = 128
 * has no exponent of its own.
 */
static inline float vm_exp(float x)
{
    const float magic = 0x1.8p23f;
    float clamped = x < -88.0f ? -88.0f : x;
    clamped = clamped > 89.0f ? 89.0f : clamped;
    union {
        float f;
        uint32_t i;
    } shifted, scale;
    shifted.f = clamped * 0x1.715476p0f + magic;
    float n = shifted.f - magic;
    float r = clamped - n * 0x1.62e4p-1f;
    r = r - n * 0x1.7f7d1cp-20f;
    float q = 0x1.6a2256p-10f;
    q = q * r + 0x1.123b02p-7f;
    q = q * r + 0x1.5558f8p-5f;
    q = q * r + 0x1.555490p-3f;
    q = q * r + 0x1.fffffcp-2f;
    float e = q * (r * r) + r + 1.0f;
    scale.i = (shifted.i << 23) + 0x3f000000u; /* 2^(n - 1) */
    float y = e * scale.f * 2.0f;
    return x < -86.64f ? 0.0f : y;
}

/*
 * Phi(x) = (1 + erf(x / sqrt 2)) / 2, the normal distribution function, within 1.2e-7 absolute, and within 1e-3
 * relative down to x = -10, where it is 8e-24 and stays.
 *
 * With z = |x|, 2 Phi(-z) = exp(z q(z)), q of degree 9 fitted on [0, 10] with weight Phi(-z) + 1e-4, since an
 * error of the exponent counts times the result: no cancellation for negative x, and erf needs no second branch.
 */
static inline float vm_normal_cdf(float x)
{
    float z = x < 0 ? -x : x;
    z = z > 10.0f ? 10.0f : z;
    float q = -3.5910661e-9f;
    q = q * z + 1.5495565e-7f;
    q = q * z + -2.7270928e-6f;
    q = q * z + 2.4336160e-5f;
    q = q * z + -9.7306927e-5f;
    q = q * z + -1.8902972e-4f;
    q = q * z + 5.0254123e-3f;
    q = q * z + -3.6473837e-2f;
    q = q * z + -3.1827365e-1f;
    q = q * z + -7.9788765e-1f;
    float tail = 0.5f * vm_exp(z * q);
    return x < 0 ? tail : 1.0f - tail;
}

/* Density of the normal distribution, exp(-x^2 / 2) / sqrt(2 pi). */
static inline float vm_normal_density(float x)
{
    return 0.39894228f * vm_exp(-0.5f * x * x);
}

/* 1 / (1 + e^-x), within 2e-7 absolute. tanh(x) is 2 vm_logistic(2 x) - 1. */
static inline float vm_logistic(float x)
{
    return 1.0f / (1.0f + vm_exp(-x));
}

#endif
