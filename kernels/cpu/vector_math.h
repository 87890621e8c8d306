/*
 * Exponential, logarithm, logistic and normal distribution functions in float, branch-free, so that loops
 * over them vectorise for any instruction set; vector types come first. Clamps compare bit patterns as
 * integers, which order floats of the same sign, because compilers keep a minimum of floats (possibly NaN) as
 * branches. Rounding adds 1.5 * 2^23, which must not be reassociated: no -ffast-math.
 *
 * Polynomials are evaluated in pairs (Estrin's scheme), because a chain of multiply-adds as long as the
 * degree would be limited by latency. They are minimax fits: Lawson's iteratively reweighted least squares on
 * 400 Chebyshev points against 40-digit values, with coefficients then rounded to float. The stated errors
 * are the largest that tests/test_vector_math.c allows, against libm in double.
 */
#ifndef GTMARK_KERNELS_CPU_VECTOR_MATH_H
#define GTMARK_KERNELS_CPU_VECTOR_MATH_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "kernels/cpu/unaligned.h"

#define VM_LN2   0.69314718f
#define VM_LOG2E 1.44269504f
#define VM_PAST  0x7fffff /* what leads from the pattern of infinity to the last one of its exponent */

/* The instruction set's vectors of floats and of integers; comparisons of the latter give -1 or 0. */
#if defined(__AVX512F__)
#define VM_LANES 16
#elif defined(__AVX__)
#define VM_LANES 8
#else
#define VM_LANES 4
#endif
UNALIGNED_VECTOR(vm_vec, float, 4 * VM_LANES);
UNALIGNED_VECTOR(vm_four, float, 16);
UNALIGNED_VECTOR(vm_ints, int32_t, 4 * VM_LANES);

/*
 * A constant in all lanes. A multiply-add of NEON overwrites its addend: a load, of which there are few,
 * costs less than a copy, and leaves the registers to a tile's sums.
 */
#ifdef __aarch64__
#define VM_ALL(x)                                                                                            \
    ({                                                                                                       \
        static const vm_vec all = {(x), (x), (x), (x)};                                                      \
        *(const volatile vm_vec *)&all;                                                                      \
    })
#else
#define VM_ALL(x) (x)
#endif

static inline uint32_t vm_bits(float x)
{
    union {
        float f;
        uint32_t u;
    } pun = {x};
    return pun.u;
}

static inline float vm_float(uint32_t bits)
{
    union {
        uint32_t u;
        float f;
    } pun = {bits};
    return pun.f;
}

/* The sum of the lanes, pairwise: compilers add the lanes of a reduced vector sequentially. */
static inline __attribute__((always_inline)) float vm_sum(vm_vec x)
{
    const vm_four *part = (const vm_four *)&x;
    vm_four sum = part[0];
    for (int i = 1; i < VM_LANES / 4; i++)
        sum += part[i];
    sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1);
    return sum[0] + sum[1];
}

/* x y' of n elements. */
static inline float vm_dot(int64_t n, const float *x, const float *y)
{
    vm_vec lanes = {0};
    float rest = 0;
    int64_t k = 0;
    for (; k + VM_LANES <= n; k += VM_LANES)
        lanes += *(const vm_vec *)(x + k) * *(const vm_vec *)(y + k);
    for (; k < n; k++)
        rest += x[k] * y[k];
    return vm_sum(lanes) + rest;
}

/* Maps floats to integers of the same order and back: inverts the magnitude bits of negative floats. */
static inline int32_t vm_ordered(uint32_t bits)
{
    return (int32_t)(bits ^ (((uint32_t) - (int32_t)(bits >> 31)) >> 1));
}

/*
 * The largest of n elements, compared as integers: compilers do not vectorise a maximum of floats that may be
 * NaN.
 */
static inline float vm_largest(int64_t n, const float *x)
{
    int32_t top = INT32_MIN;
#pragma omp simd reduction(max : top)
    for (int64_t k = 0; k < n; k++) {
        int32_t its = vm_ordered(vm_bits(x[k]));
        top = its > top ? its : top;
    }
    return vm_float((uint32_t)vm_ordered((uint32_t)top));
}

/* The larger one; NaN if one of them is. */
static inline float vm_larger(float a, float b)
{
    return a > b || a != a ? a : b;
}

/*
 * e^x / 2 for x up to 88.37, within 1.6 units in the last place; below 2^-126.5 (x < -86.99) it is 0.
 *
 * x = n ln 2 + r with |r| <= ln(2)/2 and ln 2 split in two (Cody and Waite, "Software Manual for the
 * Elementary Functions", 1980); e^r = 1 + r + r^2 q(r), fitted to 3e-9 relative. Negative x have the larger
 * bit patterns, so only a lower clamp is needed; n = -126, the smallest value after it, makes the exponent of
 * the factor 2^(n - 1) zero. Patterns are moved by VM_PAST, so that those of NaN are not beyond the clamps.
 */
static inline float vm_half_exp_moved(uint32_t moved)
{
    const float magic = 0x1.8p23f;
    uint32_t least = 0xc2aeac08 + VM_PAST; /* -87.336 */
    float clamped = vm_float((moved < least ? moved : least) - VM_PAST);
    float shifted = clamped * 0x1.715476p0f + magic;
    float n = shifted - magic;
    float r = clamped - n * 0x1.62e4p-1f;
    r = r - n * 0x1.7f7d1cp-20f;
    float r2 = r * r;
    float q = (0x1.fffffcp-2f + 0x1.555490p-3f * r) + (0x1.5558f8p-5f + 0x1.123b02p-7f * r) * r2;
    q = 0x1.6a2256p-10f * (r2 * r2) + q;
    return (q * r2 + (1.0f + r)) * vm_float((vm_bits(shifted) << 23) + 0x3f000000);
}

static inline float vm_half_exp(float x)
{
    return vm_half_exp_moved(vm_bits(x) + VM_PAST);
}

/* e^x, within 1.6 units in the last place; 0 for x < -86.99, infinity for x > 88.72, NaN for NaN. */
static inline float vm_exp(float x)
{
    int32_t moved = (int32_t)(vm_bits(x) + VM_PAST),
            most = 0x42b20000 + VM_PAST; /* 89, where twice the half overflows */
    float half = vm_half_exp_moved((uint32_t)(moved < most ? moved : most));
    return half + half;
}

/*
 * log x for x from 2^-126 on, within 1.6 units in the last place beyond 1/2 and 2; between them within 1e-7
 * of |x - 1|. NaN for NaN and infinity.
 *
 * x = 2^n (1 + r) with 1 + r from sqrt(1/2) to sqrt(2); log(1 + r) = r - r^2 / 2 + r^3 q(r), fitted to 6e-9
 * |r|.
 */
static inline float vm_log(float x)
{
    const uint32_t root = 0x3f3504f3; /* sqrt(1/2) */
    uint32_t above = vm_bits(x) - root;
    float n = (float)((int32_t)above >> 23), r = vm_float((above & 0x7fffff) + root) - 1;
    float r2 = r * r, r4 = r2 * r2;
    float low = (0x1.55554ap-2f - 0x1.000220p-2f * r) + (0x1.99a596p-3f - 0x1.54788ap-3f * r) * r2;
    float high = (0x1.226e48p-3f - 0x1.0ce07ap-3f * r) + (0x1.07d0f2p-3f - 0x1.41ee12p-4f * r) * r2;
    float tail = (low + high * r4) * (r * r2) - 0.5f * r2 + n * -0x1.05c610p-29f;
    return n * VM_LN2 + (r + tail) + (x - x);
}

/*
 * log(1 + e^x) for x up to 0, within 3.2 units in the last place, also of subnormal results; below -102.9 it
 * may be 0.
 *
 * Below -71 t = e^x is e^(x + 16) e^-16, whose sum is exact and whose product is the first to underflow;
 * log(1 + t) = t - t^2 q(t), fitted to 3e-8 relative on [0, 1].
 */
static inline float vm_log1p_exp(float x)
{
    bool small = x < -71.0f;
    float t = vm_half_exp(small ? x + 16.0f : x) * (small ? 0x1.e355bcp-23f : 2.0f);
    float t2 = t * t;
    float low = (0x1.ffff14p-2f - 0x1.5535dap-2f * t) + (0x1.fd1320p-3f - 0x1.88444ep-3f * t) * t2;
    float high = (0x1.19ad84p-3f - 0x1.446bf0p-4f * t) + (0x1.ec98fap-6f - 0x1.5f96b8p-8f * t) * t2;
    return t - t2 * (low + high * (t2 * t2));
}

/*
 * 2^x for x from -125 to 127.5, within 2.2 units in the last place. For values in registers.
 *
 * x = n + r with |r| <= 1/2; 2^r = 1 + r q(r), fitted to 1e-7 relative. Uses Horner's rule, which takes fewer
 * operations: those of a register tile's many vectors overlap. AVX-512 has instructions for n and 2^n, NEON
 * for n.
 */
static inline __attribute__((always_inline)) vm_vec vm_exp2_normal(vm_vec x)
{
#ifdef __AVX512F__
    vm_vec r = (vm_vec)_mm512_reduce_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    vm_vec n = x - r;
#elif defined(__aarch64__)
    vm_vec n; /* these two of arm_neon.h, which takes longer to compile than most files here */
    vm_ints shifted;
    __asm__("frintn %0.4s, %1.4s" : "=w"(n) : "w"(x));
    __asm__("fcvtns %0.4s, %1.4s" : "=w"(shifted) : "w"(x));
    vm_vec r = x - n;
#else
    const float magic = 0x1.8p23f;
    vm_vec shifted = x + magic, r = x - (shifted - magic);
#endif
    vm_vec q = (VM_ALL(0x1.5be7cep-10f) * r + VM_ALL(0x1.3ce940p-7f)) * r + VM_ALL(0x1.c6b6c0p-5f);
    vm_vec power = ((q * r + VM_ALL(0x1.ebf9c0p-3f)) * r + VM_ALL(0x1.62e42ap-1f)) * r + VM_ALL(1.0f);
#ifdef __AVX512F__
    return (vm_vec)_mm512_scalef_ps((__m512)power, (__m512)n);
#else
    return (vm_vec)((vm_ints)power + ((vm_ints)shifted << 23));
#endif
}

/* The same for all x below 127.5; below 2^-125 it is 0. */
static inline __attribute__((always_inline)) vm_vec vm_exp2(vm_vec x)
{
#ifdef __AVX512F__
    __mmask16 large = _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(-125.0f), _CMP_NLT_UQ);
    return (vm_vec)_mm512_maskz_mov_ps(large, (__m512)vm_exp2_normal(x));
#else
    vm_ints small = x < VM_ALL(-125.0f);
    return (vm_vec)((vm_ints)vm_exp2_normal(x) & ~small);
#endif
}

/*
 * 2^x / 2 for x from -126 to 0, within 1.2 units in the last place; 0 at -126. As vm_exp2, but with 2^r =
 * 1 + r q(r) fitted to 2e-8 relative, and a rounding that subtracts 1 from the exponent.
 */
static inline float vm_half_exp2(float x)
{
    const float magic = 0x1.8p23f - 1.0f;
    float shifted = x + magic, r = x - (shifted - magic);
    float q = ((0x1.41fbbcp-13f * r + 0x1.5f3e54p-10f) * r + 0x1.3b2d4cp-7f) * r + 0x1.c6aee8p-5f;
    float power = ((q * r + 0x1.ebfbdcp-3f) * r + 0x1.62e430p-1f) * r + 1.0f;
    return vm_float(vm_bits(power) + (vm_bits(shifted) << 23));
}

/*
 * Phi(x) = (1 + erf(x / sqrt 2)) / 2, the normal distribution function, within 1.2e-7 absolute, and within
 * 1e-3 relative down to x = -10; below, it is constant at 8e-24.
 *
 * With z = |x|, 2 Phi(-z) = 2^(z q(z)), q of degree 9 fitted on [0, 10] with weight Phi(-z) + 1e-4, because
 * an error of the exponent is multiplied by the result: no cancellation for negative x, and no second branch
 * as in erf.
 */
static inline float vm_normal_cdf(float x)
{
    uint32_t bits = vm_bits(x) & 0x7fffffff, most = 0x41200000; /* 10 */
    float z = vm_float(bits < most ? bits : most);
    float z2 = z * z, z4 = z2 * z2;
    float low = (-1.15110850e+00f - 4.59171802e-01f * z) + (-5.26206233e-02f + 7.25013763e-03f * z) * z2;
    float high = (-2.72712234e-04f - 1.40384218e-04f * z) + (3.51096569e-05f - 3.93436312e-06f * z) * z2;
    float q = low + (high + (2.23553741e-07f - 5.18081311e-09f * z) * z4) * z4;
    float tail = vm_half_exp2(z * q);
    return x < 0 ? tail : 1.0f - tail;
}

/* Density of the normal distribution, exp(-x^2 / 2) / sqrt(2 pi). */
static inline float vm_normal_density(float x)
{
    uint32_t bits = vm_bits(-0.72134752f * x * x), least = 0xc2fc0000; /* -126 */
    return 0.79788456f * vm_half_exp2(vm_float(bits < least ? bits : least));
}

/* 1 / (1 + e^-x), within 2e-7 absolute; tanh(x) = 2 vm_logistic(2 x) - 1. */
static inline float vm_logistic(float x)
{
    return 1.0f / (1.0f + vm_exp(-x));
}

#endif
