/*
 * The nodes from which a block of 16 nodes can be reached in the steps taken so far, and vectors over all
 * nodes: for ops that start a vector at each node and apply a sparse matrix again and again (walk.c, heat.c).
 */
#ifndef GTMARK_KERNELS_REF_BALL_H
#define GTMARK_KERNELS_REF_BALL_H

#include "kernels/ref/loops.h"

enum { COLUMNS = 16 };

/*
 * Nodes from which one of the initial nodes can be reached, in order of discovery. Two arrays of N integers
 * at the start of these kernels' scratch, whose size is 8 N reals of any type.
 */
struct reached {
    int32_t *node, *inside;
    int64_t count, scanned; /* number of nodes; of those whose edges have been followed */
};

#define BALL(N) (8 * (N))

static inline void ball_add(struct reached *b, int64_t node)
{
    if (!b->inside[node]) {
        b->inside[node] = 1;
        b->node[b->count++] = (int32_t)node;
    }
}

/* The 16 nodes of i's block, out of n. */
static inline struct reached ball_of(struct call call, int64_t n, int64_t i)
{
    struct reached b = {(int32_t *)call.scratch, (int32_t *)call.scratch + n, 0, 0};
    for (int64_t j = 0; j < n; j++)
        b.inside[j] = 0;
    int64_t first = i / COLUMNS * COLUMNS;
    for (int64_t j = first; j < n && j < first + COLUMNS; j++)
        ball_add(&b, j);
    return b;
}

/* Extends the ball by one step: adds the nodes that send to one inside. */
static inline void ball_grow(struct reached *b, struct mat row, struct mat col)
{
    for (int64_t end = b->count; b->scanned < end; b->scanned++) {
        struct rows edges = edges_of(row, b->node[b->scanned]);
        for (int64_t e = edges.first; e < edges.end; e++)
            ball_add(b, edge_end(col, e));
    }
}

/* Zeros, and 1 at node i. */
static inline void start(struct mat y, int64_t i)
{
    for (int64_t j = 0; j < y.cols; j++)
        AT(y, 0, j) = R(0);
    AT(y, 0, i) = R(1);
}

static inline real sum_of_ends(struct mat x, struct rows edges, struct mat col)
{
    real sum = R(0);
    for (int64_t e = edges.first; e < edges.end; e++)
        sum += AT(x, 0, edge_end(col, e));
    return sum;
}

static inline void swap(struct mat *x, struct mat *y)
{
    struct mat z = *x;
    *x = *y;
    *y = z;
}

#endif
