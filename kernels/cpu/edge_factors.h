/*
 * Scores of edges that have factors of their own, a row of c each (kernels/ref/sparse_attention.c): products
 * of the rows at their other ends with these, and scores within +-clamp.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_FACTORS_H
#define GTMARK_KERNELS_CPU_EDGE_FACTORS_H

#include <math.h>

#include "kernels/cpu/edge_heads.h"

/* Floats of the rows that edge_factors writes, and of their numbers. */
static inline int64_t edge_factors_size(const struct edge_heads *s)
{
    return s->most * (max_of(s->d, LANES) + 1);
}

/*
 * Replaces the rows at the other ends of edges first .. first + n - 1 by their products with the rows of c,
 * which are number[edge], or in this order if null.
 */
static inline void edge_factors(const struct edge_heads *s, const struct edge_tasks *tasks, struct mat c,
                                const int32_t *number, int64_t first, int64_t n, float *products,
                                struct edge_rows *rows)
{
    int64_t ld = max_of(s->d, LANES), ahead = edges_ahead(2 * s->d);
    int32_t *same = (int32_t *)(void *)(products + s->most * ld);
    for (int64_t e = 0; e < n; e++) {
        const float *restrict row = rows->at + rows->col[e] * rows->ld;
        const float *restrict factor = row_of(c, number ? number[first + e] : first + e);
        float *restrict product = products + e * ld;
        const float *next = rows->at + rows->col[min_of(e + ahead, rows->last)] * rows->ld;
        for (int64_t k = 0; k < s->d; k += EDGE_LINE)
            __builtin_prefetch(next + k);
        int64_t later = min_of(first + e + ahead, tasks->edges - 1);
        edge_fetch_row(c, number ? number[later] : later);
#pragma omp simd
        for (int64_t k = 0; k < s->d; k++)
            product[k] = row[k] * factor[k];
        for (int64_t k = s->d; k < ld; k++)
            product[k] = 0;
        same[e] = (int32_t)e;
    }
    *rows = (struct edge_rows){products, ld, same, n - 1};
}

/* Scales n scores and clamps them; slopes, unless null: what a gradient is multiplied by for this. */
static inline void edge_clamp(int64_t n, float *restrict scores, float scale, float clamp,
                              float *restrict slopes)
{
#pragma omp simd
    for (int64_t u = 0; u < n; u++) {
        float x = scores[u] * scale;
        scores[u] = x < -clamp ? -clamp : x > clamp ? clamp : x;
        if (slopes)
            slopes[u] = fabsf(x) <= clamp ? scale : 0;
    }
}

#endif
