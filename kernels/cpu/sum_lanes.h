/* Horizontal sums of many vectors at once. */
#ifndef GTMARK_KERNELS_CPU_SUM_LANES_H
#define GTMARK_KERNELS_CPU_SUM_LANES_H

#include "kernels/cpu/vectors.h"

/*
 * Lanes i and i + 2 of four lanes, the f-th of x and of y; and four whole lanes, the f-th, those of y counted
 * on from those of x.
 */
#define EVERY_OTHER(i, f) 4 * (f) + (i), 4 * (f) + (i) + 2, LANES + 4 * (f) + (i), LANES + 4 * (f) + (i) + 2
#define FOUR(f)           4 * (f), 4 * (f) + 1, 4 * (f) + 2, 4 * (f) + 3
#if VM_LANES == 4
#define LANES_OF(i) EVERY_OTHER(i, 0)
#define FOURS_OF(i) FOUR(i)
#elif VM_LANES == 8
#define LANES_OF(i) EVERY_OTHER(i, 0), EVERY_OTHER(i, 1)
#define FOURS_OF(i) FOUR(i), FOUR((i) + 2)
#else
#define LANES_OF(i) EVERY_OTHER(i, 0), EVERY_OTHER(i, 1), EVERY_OTHER(i, 2), EVERY_OTHER(i, 3)
#define FOURS_OF(i) FOUR(i), FOUR((i) + 2), FOUR((i) + 4), FOUR((i) + 6)
#endif

/* In each four lanes, the sums of neighbours in x, then of those in y: shuffles across fours are slow. */
INLINE vec add_neighbours(vec x, vec y)
{
    return __builtin_shufflevector(x, y, LANES_OF(0)) + __builtin_shufflevector(x, y, LANES_OF(1));
}

/* The sums of neighbouring fours of x, then of y. */
INLINE vec add_fours(vec x, vec y)
{
    return __builtin_shufflevector(x, y, FOURS_OF(0)) + __builtin_shufflevector(x, y, FOURS_OF(1));
}

/* The sums of the lanes of each vector; overwrites them. */
INLINE vec sum_lanes(vec sum[LANES])
{
    UNROLL
    for (int n = LANES / 2; n > 0; n /= 2) {
        UNROLL
        for (int u = 0; u < n; u++)
            sum[u] = n >= LANES / 4 ? add_neighbours(sum[2 * u], sum[2 * u + 1])
                                    : add_fours(sum[2 * u], sum[2 * u + 1]);
    }
    return sum[0];
}

#endif
