/*
 * Masks of dropout (kernels/mask.h) for runs of consecutive entries. A run's random numbers are mixed two at
 * a time into a buffer, which then is read as halves; both loops vectorise.
 */
#ifndef GTMARK_KERNELS_CPU_MASK_H
#define GTMARK_KERNELS_CPU_MASK_H

#include "kernels/cpu/vector_math.h"
#include "kernels/mask.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half of a word comes first");

enum { MASK_RUN = 512 };

struct mask_buffer {
    uint64_t words[MASK_RUN / 2 + 1];
};

typedef uint32_t mask_half __attribute__((may_alias));

/* The random numbers of entries first .. first + n - 1, n at most MASK_RUN; in the buffer. */
static inline const mask_half *mask_numbers(struct mask m, int64_t first, int64_t n, struct mask_buffer *b)
{
    uint64_t word = (uint64_t)first >> 1;
    int64_t odd = first & 1, words = (odd + n + 1) / 2;
#pragma omp simd
    for (int64_t k = 0; k < words; k++)
        b->words[k] = rng_bits(m.key, word + (uint64_t)k);
    return (const mask_half *)b->words + odd;
}

/* All bits if the number keeps its entry, otherwise none. */
static inline uint32_t mask_bits(struct mask m, uint32_t number)
{
    return number >= m.least ? UINT32_MAX : 0;
}

/* y = x scale where kept, otherwise 0; x scale is rounded before anything is added to it. */
static inline float mask_apply(struct mask m, uint32_t number, float scale, float x)
{
    return vm_float(vm_bits(x * scale) & mask_bits(m, number));
}

/* x = x scale where kept, otherwise 0, of any number of entries. */
static inline void mask_in_place(struct mask m, int64_t first, int64_t n, float *x)
{
    float scale = (float)m.scale;
    struct mask_buffer buffer;
    for (int64_t run; n > 0; first += run, n -= run, x += run) {
        run = n < MASK_RUN ? n : MASK_RUN;
        const mask_half *numbers = mask_numbers(m, first, run, &buffer);
#pragma omp simd
        for (int64_t k = 0; k < run; k++)
            x[k] = mask_apply(m, numbers[k], scale, x[k]);
    }
}

#endif
