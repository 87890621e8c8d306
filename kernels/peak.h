/*
 * The loops whose rates are the processor's ceilings: arithmetic in registers, and reading, writing and
 * mixing arrays. They are serial; who wants the rate of several cores runs them on several threads at once.
 */
#ifndef GTMARK_KERNELS_PEAK_H
#define GTMARK_KERNELS_PEAK_H

#include "kernels/backend.h"

/* Arrays are of floats, at any alignment; n elements, all different. */
struct peak {
    const char *isa; /* base, avx2, avx512 */
    int64_t flops;   /* of one repetition of multiply_add */

    /* x = x a + b in independent chains of vectors; returns a sum that depends on every operation. */
    float (*multiply_add)(int64_t repetitions);

    /* The sum of x, in as many chains as it takes to keep up with the loads. */
    float (*read)(int64_t n, const float *x);

    /* x = value, by ordinary stores. */
    void (*write)(int64_t n, float *x, float value);

    /* x = y + s z (McCalpin's STREAM). */
    void (*triad)(int64_t n, float *restrict x, const float *restrict y, const float *restrict z, float s);
};

/* The loops compiled for the same instruction set as the kernels of a table of backend_cpu_all; null for
 * others. */
const struct peak *peak_of(const struct backend *backend);

#endif
