/*
 * What is chosen among ways to compute a product, from times and shapes alone: plain C, so that it is tested
 * on the host.
 */
#ifndef GTMARK_KERNELS_CUDA_PRODUCT_PLAN_H
#define GTMARK_KERNELS_CUDA_PRODUCT_PLAN_H

#include "kernels/arithmetic.h"

/* A way other than the first is taken if it takes at most this share of the first one's time. */
static const double choice_margin = 0.95;

/* The number of the way to take; a time of 0: not measured. */
static inline int choice_fastest(const double *seconds, int ways)
{
    int best = 0;
    for (int way = 1; way < ways; way++)
        best = seconds[way] < seconds[best] ? way : best;
    return seconds[best] <= choice_margin * seconds[0] ? best : 0;
}

enum {
    PRODUCT_TILE = 128, /* rows and columns of a result that an algorithm's block computes, about */
    PART_LEAST = 256,   /* depth */
};

/*
 * Parts into which the depth of a rows x cols result may be divided: as many as give each multiprocessor two
 * tiles, and fit into the workspace as floats. 0: not at all.
 */
static inline int64_t product_parts(int64_t rows, int64_t cols, int64_t depth, int64_t workspace,
                                    int multiprocessors)
{
    int64_t tiles = blocks_of(rows, PRODUCT_TILE) * blocks_of(cols, PRODUCT_TILE);
    int64_t room = workspace / (rows * cols * (int64_t)sizeof(float));
    int64_t parts = min_of(min_of(2 * multiprocessors / tiles, depth / PART_LEAST), room);
    return parts >= 2 ? parts : 0;
}

#endif
