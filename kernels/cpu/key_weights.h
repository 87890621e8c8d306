/* The weights of keys in masked attention. */
#ifndef GTMARK_KERNELS_CPU_KEY_WEIGHTS_H
#define GTMARK_KERNELS_CPU_KEY_WEIGHTS_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vectors.h"

#include <float.h>

/* Weights first .. first + keys - 1, 1 if absent, and zeros up to the next whole vector. */
static inline void key_weights_read(struct mat weight, int64_t first, int64_t keys, float *to)
{
    for (int64_t j = 0; j < round_up(keys, LANES); j++)
        to[j] = j >= keys ? 0 : mat_present(weight) ? *row_of(weight, first + j) : 1;
}

/* Replaces the scores of keys of weight 0 by the least, so that none of them is the largest. */
static inline void key_weights_hide(int64_t keys, float *restrict s, const float *restrict m)
{
#pragma omp simd
    for (int64_t j = 0; j < keys; j++)
        s[j] = m[j] > 0 ? s[j] : -FLT_MAX;
}

/*
 * Replaces scores s by m 2^(s - shift), the power at most 2^30, also beyond the last key up to a whole
 * vector, where m is 0. A weight of 0 gives 0 whatever the score is. Returns their sums, lane by lane.
 */
static inline vec key_weights_apply(int64_t keys, float *s, float shift, const float *m)
{
    vec sum = {0};
    for (int64_t j = 0; j < keys; j += LANES) {
        vec x = load(s + j) - shift, weight = load(m + j), most = (vec){0} + 30.0f;
        vm_ints high = x > most, there = weight > 0.0f;
        x = (vec)(((vm_ints)x & ~high) | ((vm_ints)most & high));
        vec p = (vec)((vm_ints)(vm_exp2(x) * weight) & there);
        store(s + j, p);
        sum += p;
    }
    return sum;
}

#endif
