/*
 * Passes over the edges of all rows of a compressed sparse matrix of edges, which sum D columns for each row,
 * or find the largest, in up to EDGE_SUMS matrices, and may write the row of each edge in others. edges.h
 * divides the work.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_SUMS_H
#define GTMARK_KERNELS_CPU_EDGE_SUMS_H

#include <math.h>
#include <string.h>

#include "kernels/cpu/edge_heads.h"

enum { EDGE_SUMS = 2, EDGE_GRAIN = 1 << 14 };

/* Adds the terms of a piece's edges to the sums of its row; null: not summed. Pieces contain each edge once.
 */
typedef void edge_terms(const void *args, struct edge_piece p, float *const sum[EDGE_SUMS]);

struct edge_sums {
    const struct call *call;
    struct edge_tasks tasks;
    int64_t d;
    struct mat to[EDGE_SUMS]; /* N x D, may be accumulated; absent: not summed */
    bool largest[EDGE_SUMS];  /* the largest instead of the sum, -INFINITY without edges */
    edge_terms *add;
    const void *args; /* of add */
    float *parts;     /* scratch: edge_sums_size */
};

/* Floats of scratch. */
static inline int64_t edge_sums_size(struct mat row, struct mat col, int64_t d)
{
    return edge_tasks(row, col).count * EDGE_SUMS * d;
}

static inline int edge_sums_threads(const struct edge_sums *s)
{
    return threads_for(s->call, (s->tasks.nodes + s->tasks.edges) * s->d, EDGE_GRAIN);
}

static inline void edge_sums_task(const struct edge_sums *s, int64_t t)
{
    struct edge_piece next = edge_first(&s->tasks, t + 1);
    for (struct edge_piece p = edge_first(&s->tasks, t); edge_before(p, next); p = edge_next(&s->tasks, p)) {
        struct edge_piece own = edge_clip(p, next);
        float *sum[EDGE_SUMS];
        for (int m = 0; m < EDGE_SUMS; m++) {
            bool summed = mat_present(s->to[m]), keep = own.ends && s->to[m].acc;
            sum[m] = !summed    ? NULL
                     : own.ends ? row_of(s->to[m], p.row)
                                : s->parts + (t * EDGE_SUMS + m) * s->d;
            for (int64_t k = 0; k < s->d && summed && !keep; k++)
                sum[m][k] = s->largest[m] ? -INFINITY : 0;
        }
        s->add(s->args, own, sum);
    }
}

/* Adds the earlier pieces of a hub's row, which ends in task t. */
static inline void edge_sums_join(const struct edge_sums *s, int64_t t)
{
    int64_t before = edge_pieces_before(&s->tasks, t), i = edge_first(&s->tasks, t).row;
    for (int m = 0; m < EDGE_SUMS && before > 0; m++) {
        if (!mat_present(s->to[m]))
            continue;
        const float *part = s->parts + ((t - before) * EDGE_SUMS + m) * s->d;
        float *to = row_of(s->to[m], i);
        if (!s->largest[m])
            add_accumulators(s->d, to, true, part, before, EDGE_SUMS * s->d);
        for (int64_t n = 0; n < before && s->largest[m]; n++, part += EDGE_SUMS * s->d)
            for (int64_t k = 0; k < s->d; k++)
                to[k] = vm_larger(part[k], to[k]);
    }
}

/*
 * By the threads of a parallel region, which wait for one another at the end. Tasks have about the same
 * number of edges and are not scheduled dynamically: the rows of a thread are then those of other ops, in its
 * own cache.
 */
static inline void edge_sums_run(const struct edge_sums *s)
{
#pragma omp for schedule(static)
    for (int64_t t = 0; t < s->tasks.count; t++)
        edge_sums_task(s, t);
#pragma omp for schedule(static)
    for (int64_t t = 0; t < s->tasks.count; t++)
        edge_sums_join(s, t);
}

#endif
