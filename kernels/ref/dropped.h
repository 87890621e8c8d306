/* Dropout of the probabilities of attention (kernels/mask.h). */
#ifndef GTMARK_KERNELS_REF_DROPPED_H
#define GTMARK_KERNELS_REF_DROPPED_H

#include "kernels/mask.h"
#include "kernels/ref/loops.h"

/* mask_given; the counting type reads no schedule. */
static inline const struct mask *ref_mask(struct mat schedule, uint64_t site, double p, struct mask *m)
{
    if (!mat_present(schedule))
        return NULL;
    *m = mask_of(site, *double_at(schedule, 0), p);
    return m;
}

/* x / (1 - p) where the entry is kept, otherwise 0; x without a mask. */
static inline real dropped(const struct mask *mask, int64_t entry, real x)
{
    if (!mask)
        return x;
    real kept = x * R(mask->scale);
    return mask_keeps(*mask, entry) ? kept : R(0);
}

#endif
