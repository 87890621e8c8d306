/*
 * The masks of dropout (Srivastava et al., "Dropout: a simple way to prevent neural networks from
 * overfitting", 2014). Entry n of a site is kept in step t if a 32-bit random number of (key of the site, t,
 * n) is at least p 2^32, rounded down; what is kept is multiplied by 1 / (1 - p). A mask is a pure function
 * of the position in the tensor: the backward op computes it again, and every tiling, number of threads and
 * backend has the same one.
 */
#ifndef GTMARK_KERNELS_MASK_H
#define GTMARK_KERNELS_MASK_H

#include <stdbool.h>

#include "kernels/mat.h"
#include "kernels/rng.h"

struct mask {
    uint64_t key;   /* of the site in this step */
    uint32_t least; /* p 2^32 */
    double scale;   /* 1 / (1 - p) */
};

GT_DEVICE static inline struct mask mask_of(uint64_t site, double step, double p)
{
    struct mask m = {rng_bits(site, (uint64_t)step), (uint32_t)(p * 0x1p32), 1 / (1 - p)};
    return m;
}

GT_DEVICE static inline bool mask_keeps(struct mask m, int64_t n)
{
    return rng_half(m.key, (uint64_t)n) >= m.least;
}

/* The mask of an op with the option of dropout, kept in *m; null without its schedule. */
static inline const struct mask *mask_given(struct mat schedule, uint64_t site, double p, struct mask *m)
{
    if (!mat_present(schedule))
        return NULL;
    *m = mask_of(site, *(const double *)schedule.data, p);
    return m;
}

#endif
