/*
 * Microbenchmarks that determine the processor's ceilings: arithmetic in registers; reading, writing and
 * combining arrays. They are serial; for the rate of several cores, run them on several threads at once.
 */
#ifndef GTMARK_KERNELS_PEAK_H
#define GTMARK_KERNELS_PEAK_H

#include "kernels/backend.h"

/* Arrays hold n floats at any alignment, and must not overlap. */
struct peak {
    const char *isa; /* base, avx2, avx512, amx */
    int64_t flops;   /* of one iteration of multiply_add */

    /* x = x a + b in independent chains of vectors; returns a sum that depends on every operation. */
    float (*multiply_add)(int64_t repetitions);

    /* Products of matrices in BF16 in units of their own, of product_flops each; null: there are none.
     * Returns a sum. */
    float (*products)(int64_t repetitions);
    int64_t product_flops;

    /* The sum of x, in enough chains to keep up with the loads. */
    float (*read)(int64_t n, const float *x);

    /* x = value, with ordinary stores. */
    void (*write)(int64_t n, float *x, float value);

    /* x = 1 + factor x, in place: no line is read only because it will be written. */
    void (*update)(int64_t n, float *x, float factor);

    /* x = y + s z (McCalpin's STREAM). */
    void (*triad)(int64_t n, float *restrict x, const float *restrict y, const float *restrict z, float s);
};

/*
 * The loops compiled for the same instruction set as a backend of backend_cpu_all; null for other backends.
 */
const struct peak *peak_of(const struct backend *backend);

#endif
