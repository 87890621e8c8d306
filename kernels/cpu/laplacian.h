/*
 * One step of a recurrence with the Laplacian: y = alpha T x + beta x - old, for a block of columns, by the
 * tasks of edges.h.
 *
 * A piece of a row is summed in registers, up to WIDE vectors of columns at a time, and the remaining columns
 * one by one. The last piece of a row writes it; a hub's earlier pieces are added when all tasks are done.
 * The last expression can be contracted to fused operations in one way only, so that every loop rounds alike.
 */
#ifndef GTMARK_KERNELS_CPU_LAPLACIAN_H
#define GTMARK_KERNELS_CPU_LAPLACIAN_H

#include "kernels/cpu/edges.h"
#include "kernels/cpu/unaligned.h"
#include "kernels/cpu/vectors.h"

enum {
    WIDE = 4,
    SHORT =
        LANES < 8 ? LANES : 8, /* floats of a vector, no more than the narrowest panel has (chebyshev.c) */
    LINE = 16,                 /* floats per cache line */
    NEAR = 1 << 19 /* floats of x and y that nearly fit a core's own cache: prefetches would only cost */
};

UNALIGNED_VECTOR(short_vec, float, 4 * SHORT);

struct step {
    struct edge_tasks tasks;
    struct mat y, x, old, q, w; /* y = S x - old; w absent: ones */
    float alpha, beta;
    float *zeros; /* D: what step 1 subtracts */
    float *parts; /* D per task */
    bool near;    /* whether x and y nearly fit that */
};

static float weight_of(const struct step *s, int64_t e)
{
    return *row_of(s->w, e);
}

static float scale_of(const struct step *s, int64_t row)
{
    return s->alpha * *row_of(s->q, row);
}

/* Successive rows, whole, or a piece of a single one, whose sums go to `part` unless it ends the row. */
struct stretch {
    struct edge_piece piece; /* the first row's */
    int64_t rows;
    float *part;
};

static int64_t end_of(const struct step *s, const struct stretch *t, int64_t i)
{
    return t->rows > 1 ? s->tasks.row[t->piece.row + i + 1] : t->piece.end;
}

/* Columns k .. k + vectors * SHORT - 1. */
INLINE void step_columns(const struct step *all, int vectors, bool weighted, bool near,
                         const struct stretch *t, int64_t k)
{
    const struct step s = *all; /* no store can change it */
    const int32_t *col = s.tasks.col;
    const float *x = (const float *)s.x.data + k;
    int64_t ld = s.x.ld, last = s.tasks.edges - 1, e = t->piece.first;
    for (int64_t i = 0; i < t->rows; i++) {
        int64_t row = t->piece.row + i, end = end_of(&s, t, i);
        short_vec own[WIDE], sum[WIDE];
        UNROLL
        for (int v = 0; v < vectors; v++) {
            own[v] = *(const short_vec *)(x + row * ld + v * SHORT);
            sum[v] = (short_vec){0};
        }
        for (; e < end; e++) {
            const float *from = x + col[e] * ld,
                        *ahead = near ? NULL : x + col[min_of(e + edges_ahead(vectors * SHORT), last)] * ld;
            float weight = weighted ? weight_of(&s, e) : 1;
            UNROLL
            for (int v = 0; v < vectors; v++) {
                if (!near && v * SHORT % LINE == 0)
                    __builtin_prefetch(ahead + v * SHORT);
                short_vec d = own[v] - *(const short_vec *)(from + v * SHORT);
                if (weighted)
                    sum[v] += weight * d;
                else
                    sum[v] += d;
            }
        }
        const float *old = row_of(s.old, row) + k;
        float scale = scale_of(&s, row), *to = t->part ? t->part + k : row_of(s.y, row) + k;
        UNROLL
        for (int v = 0; v < vectors; v++) {
            if (!t->part)
                sum[v] = scale * sum[v] + (s.beta * own[v] - *(const short_vec *)(old + v * SHORT));
            *(short_vec *)(to + v * SHORT) = sum[v];
        }
    }
}

static void step_column(const struct step *s, const struct stretch *t, int64_t k)
{
    const float *x = (const float *)s->x.data + k;
    for (int64_t i = 0, e = t->piece.first; i < t->rows; i++) {
        int64_t row = t->piece.row + i, end = end_of(s, t, i);
        float own = x[row * s->x.ld], sum = 0;
        for (; e < end; e++)
            sum += (s->w.data ? weight_of(s, e) : 1) * (own - x[s->tasks.col[e] * s->x.ld]);
        float next = scale_of(s, row) * sum + (s->beta * own - row_of(s->old, row)[k]);
        if (t->part)
            t->part[k] = sum;
        else
            row_of(s->y, row)[k] = next;
    }
}

INLINE void step_stretch(const struct step *s, bool weighted, bool near, struct stretch t)
{
    int64_t d = s->y.cols, k = 0;
    for (; k + 4 * SHORT <= d; k += 4 * SHORT)
        step_columns(s, 4, weighted, near, &t, k);
    for (; k + 2 * SHORT <= d; k += 2 * SHORT)
        step_columns(s, 2, weighted, near, &t, k);
    for (; k + SHORT <= d; k += SHORT)
        step_columns(s, 1, weighted, near, &t, k);
    for (; k < d; k++)
        step_column(s, &t, k);
}

/* Task t, from its first piece on. Returns the first piece of the next. */
INLINE struct edge_piece step_rows(const struct step *s, bool weighted, bool near, int64_t t,
                                   struct edge_piece p)
{
    struct edge_piece next = edge_first_from(&s->tasks, t + 1, p.row);
    for (; edge_before(p, next); p = edge_next(&s->tasks, p)) {
        p = edge_clip(p, next);
        int64_t rows = p.begins && p.ends ? next.row - p.row : 1;
        step_stretch(s, weighted, near, (struct stretch){p, rows, p.ends ? NULL : s->parts + t * s->y.cols});
        p.row += rows - 1;
        p.end = s->tasks.row[p.row + 1];
    }
    return next;
}

static struct edge_piece step_task(const struct step *s, int64_t t, struct edge_piece p)
{
    if (s->near)
        return s->w.data ? step_rows(s, true, true, t, p) : step_rows(s, false, true, t, p);
    return s->w.data ? step_rows(s, true, false, t, p) : step_rows(s, false, false, t, p);
}

/* If task t has the end of a hub, adds its earlier pieces. */
static void add_parts(const struct step *s, int64_t t)
{
    int64_t d = s->y.cols, row = edge_first(&s->tasks, t).row;
    for (int64_t before = edge_pieces_before(&s->tasks, t); before > 0; before--) {
        float *to = row_of(s->y, row), scale = scale_of(s, row);
        const float *from = s->parts + (t - before) * d;
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            to[k] += scale * from[k];
    }
}

#endif
