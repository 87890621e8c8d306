/*
 * Mean and sum of squared deviations (m2) of a set, and their union (Chan, Golub, LeVeque 1983): no
 * cancellation if the mean is large compared to the spread.
 */
#ifndef GTMARK_KERNELS_CUDA_MOMENTS_H
#define GTMARK_KERNELS_CUDA_MOMENTS_H

#include "kernels/arithmetic.h"

struct moments {
    double count, mean, m2;
};

/* Moments of the union; either set may be empty. */
GT_DEVICE static inline struct moments moments_union(struct moments a, struct moments b)
{
    struct moments both = {a.count + b.count, a.mean, a.m2};
    if (b.count > 0) {
        double apart = b.mean - a.mean, share = b.count / both.count;
        both.mean += apart * share;
        both.m2 += b.m2 + apart * apart * a.count * share;
    }
    return both;
}

#endif
