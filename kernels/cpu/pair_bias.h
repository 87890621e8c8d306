/*
 * The bias of attention, P x H: a pair's heads are neighbours. Who reads or writes it takes all heads of a
 * cache line at once, and has a matrix of each of them in the caches meanwhile.
 */
#ifndef GTMARK_KERNELS_CPU_PAIR_BIAS_H
#define GTMARK_KERNELS_CPU_PAIR_BIAS_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vectors.h"

#include <float.h>
#include <math.h>

/* Lanes of a vector and of another: every other one; and one of each in turn, which undoes that. */
#if VM_LANES == 4
#define OTHERS(i) (i), (i) + 2, (i) + 4, (i) + 6
#define TURNS(i)  (i), (i) + 4, (i) + 1, (i) + 5
#elif VM_LANES == 8
#define OTHERS(i) (i), (i) + 2, (i) + 4, (i) + 6, (i) + 8, (i) + 10, (i) + 12, (i) + 14
#define TURNS(i)  (i), (i) + 8, (i) + 1, (i) + 9, (i) + 2, (i) + 10, (i) + 3, (i) + 11
#else
#define OTHERS(i)                                                                                            \
    (i), (i) + 2, (i) + 4, (i) + 6, (i) + 8, (i) + 10, (i) + 12, (i) + 14, (i) + 16, (i) + 18, (i) + 20,     \
        (i) + 22, (i) + 24, (i) + 26, (i) + 28, (i) + 30
#define TURNS(i)                                                                                             \
    (i), (i) + 16, (i) + 1, (i) + 17, (i) + 2, (i) + 18, (i) + 3, (i) + 19, (i) + 4, (i) + 20, (i) + 5,      \
        (i) + 21, (i) + 6, (i) + 22, (i) + 7, (i) + 23
#endif

/* LANES pairs of so many heads, a power of 2: from the order of rows to a vector per head, and back. */
INLINE void pair_bias_to_heads(int heads, vec x[])
{
    UNROLL
    for (int n = 1; n < heads; n *= 2) {
        vec y[16];
        UNROLL
        for (int i = 0; i < heads / 2; i++) {
            y[i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], OTHERS(0));
            y[heads / 2 + i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], OTHERS(1));
        }
        UNROLL
        for (int i = 0; i < heads; i++)
            x[i] = y[i];
    }
}

INLINE void pair_bias_to_pairs(int heads, vec x[])
{
    UNROLL
    for (int n = 1; n < heads; n *= 2) {
        vec y[16];
        UNROLL
        for (int i = 0; i < heads / 2; i++) {
            y[2 * i] = __builtin_shufflevector(x[i], x[heads / 2 + i], TURNS(0));
            y[2 * i + 1] = __builtin_shufflevector(x[i], x[heads / 2 + i], TURNS(LANES / 2));
        }
        UNROLL
        for (int i = 0; i < heads; i++)
            x[i] = y[i];
    }
}

/* By vectors if `whole`: heads are known when compiled, and all of a pair. */
INLINE void pair_bias_get_by(bool whole, int64_t n, int heads, float *restrict to, int64_t apart,
                             const float *restrict bias, int64_t ld)
{
    int64_t j = 0;
    for (; whole && j + LANES <= n; j += LANES) {
        vec x[16];
        UNROLL
        for (int i = 0; i < heads; i++)
            x[i] = load(bias + j * heads + i * LANES);
        pair_bias_to_heads(heads, x);
        UNROLL
        for (int i = 0; i < heads; i++)
            store(to + i * apart + j, x[i]);
    }
    for (int h = 0; h < heads; h++) {
#pragma omp simd
        for (int64_t k = j; k < n; k++)
            to[h * apart + k] = bias[k * ld + h];
        for (int64_t k = n; k < round_up(n, LANES); k++)
            to[h * apart + k] = -INFINITY;
    }
}

INLINE void pair_bias_put_by(bool whole, int64_t n, int heads, float *restrict to, int64_t ld, bool acc,
                             const float *restrict ds, int64_t apart)
{
    int64_t j = 0;
    for (; whole && j + LANES <= n; j += LANES) {
        vec x[16];
        UNROLL
        for (int i = 0; i < heads; i++)
            x[i] = load(ds + i * apart + j);
        pair_bias_to_pairs(heads, x);
        UNROLL
        for (int i = 0; i < heads; i++) {
            float *at = to + j * heads + i * LANES;
            if (acc)
                x[i] += load(at);
            store(at, x[i]);
        }
    }
    for (int h = 0; h < heads; h++) {
#pragma omp simd
        for (int64_t k = j; k < n; k++)
            to[k * ld + h] = (acc ? to[k * ld + h] : 0) + ds[h * apart + k];
    }
}

/* Calls `by` with heads known when compiled, if they are such a number and all of a row. */
#define PAIR_BIAS_BY(by, n, heads, ld, ...)                                                                  \
    switch ((ld) == (heads) ? (heads) : 0) {                                                                 \
    case 1:                                                                                                  \
        by(true, n, 1, __VA_ARGS__);                                                                         \
        break;                                                                                               \
    case 2:                                                                                                  \
        by(true, n, 2, __VA_ARGS__);                                                                         \
        break;                                                                                               \
    case 4:                                                                                                  \
        by(true, n, 4, __VA_ARGS__);                                                                         \
        break;                                                                                               \
    case 8:                                                                                                  \
        by(true, n, 8, __VA_ARGS__);                                                                         \
        break;                                                                                               \
    case 16:                                                                                                 \
        by(true, n, 16, __VA_ARGS__);                                                                        \
        break;                                                                                               \
    default:                                                                                                 \
        by(false, n, heads, __VA_ARGS__);                                                                    \
    }

/* The bias of n pairs in these heads, a head's `apart` from that of the next, and -inf up to whole vectors.
 */
static inline void pair_bias_get(int64_t n, int heads, float *restrict to, int64_t apart,
                                 const float *restrict bias, int64_t ld)
{
    PAIR_BIAS_BY(pair_bias_get_by, n, heads, ld, to, apart, bias, ld)
}

/* dbias (+)= ds of n pairs, laid out in the same way. */
static inline void pair_bias_put(int64_t n, int heads, float *restrict to, int64_t ld, bool acc,
                                 const float *restrict ds, int64_t apart)
{
    PAIR_BIAS_BY(pair_bias_put_by, n, heads, ld, to, ld, acc, ds, apart)
}

/* Adds the bias of n pairs to their scores, which are exponents of 2. */
static inline void pair_bias_add(int64_t n, float *restrict s, const float *restrict bias)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        s[j] += bias[j] * VM_LOG2E;
}

/* The largest score that is subtracted, or lse: not -inf, so that hidden pairs have 2^-inf = 0. */
static inline float pair_bias_top(float top)
{
    return vm_larger(-FLT_MAX, top);
}

#endif
