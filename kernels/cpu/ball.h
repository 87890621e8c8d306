/*
 * The ball of a block of COLUMNS nodes: those from which one of the block can be reached in the steps taken
 * so far. Ops that start a vector at each node and apply a sparse matrix again and again (walk.c, heat.c)
 * access only the rows of these nodes. A ball that contains most nodes is processed in order of their numbers
 * of edges, which makes loops over edges predictable.
 */
#ifndef GTMARK_KERNELS_CPU_BALL_H
#define GTMARK_KERNELS_CPU_BALL_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vectors.h"

enum { COLUMNS = 16, WINDOW = 1024, WINDOW_DEGREES = 64 };

/* The edges along which a step pulls, and those along which the ball grows. */
struct ball_graph {
    const int64_t *pull, *grow; /* offsets of each node's edges */
    const int32_t *from, *to;
    int32_t *order; /* all nodes, in the order in which a step over most nodes visits them */
    int64_t nodes;
};

/* State of a node: in the ball if FOUND, or SPENT once its edges have been followed. */
enum { OUTSIDE, FOUND, SPENT };

struct ball {
    int32_t *node; /* one more than there are nodes */
    uint8_t *inside;
    int64_t count, edges; /* nodes, and edges that a step over them pulls */
    bool grown;           /* in the last step */
};

/* Without branches, which would be mispredicted: a node that is in the ball is overwritten by the next. */
static inline void ball_add(struct ball *b, int32_t node)
{
    b->node[b->count] = node;
    b->count += b->inside[node] == OUTSIDE;
    b->inside[node] = (uint8_t)max_of(b->inside[node], FOUND);
}

/* Counts the edges of the nodes from number `before` on. */
static inline void ball_count(const struct ball_graph *g, struct ball *b, int64_t before)
{
    for (int64_t m = before; m < b->count; m++)
        b->edges += g->pull[b->node[m] + 1] - g->pull[b->node[m]];
}

/* The nodes first .. first + columns - 1. */
static inline void ball_open(const struct ball_graph *g, struct ball *b, int64_t first, int64_t columns)
{
    b->count = b->edges = 0;
    b->grown = true;
    for (int64_t c = 0; c < columns; c++)
        ball_add(b, (int32_t)(first + c));
    ball_count(g, b, 0);
}

/* If most nodes are in the ball, they are sorted into the order of a step over all. */
static inline void ball_order(const struct ball_graph *g, struct ball *b)
{
    int64_t count = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        b->node[count] = g->order[i];
        count += b->inside[g->order[i]] != OUTSIDE;
        if (count == b->count)
            break;
    }
}

/* Follows the edges of the nodes added last. */
static inline void ball_grow(const struct ball_graph *g, struct ball *b)
{
    int64_t before = b->count;
    for (int64_t m = 0; b->grown && m < before; m++) {
        int64_t node = b->node[m];
        if (b->inside[node] == SPENT)
            continue;
        b->inside[node] = SPENT;
        for (int64_t e = g->grow[node]; e < g->grow[node + 1]; e++)
            ball_add(b, g->to[e]);
    }
    ball_count(g, b, before);
    b->grown = b->count > before;
    if (b->grown && 2 * b->count > g->nodes)
        ball_order(g, b);
}

/* Fills part of g->order: sorts WINDOW nodes by their number of edges, while neighbours stay close together.
 */
static inline void order_window(const struct ball_graph *g, int64_t first)
{
    int32_t begin[WINDOW_DEGREES + 1] = {0};
    int64_t end = min_of(g->nodes, first + WINDOW);
    for (int64_t i = first; i < end; i++)
        begin[min_of(WINDOW_DEGREES, g->pull[i + 1] - g->pull[i] + 1)]++;
    for (int d = 1; d <= WINDOW_DEGREES; d++)
        begin[d] += begin[d - 1];
    for (int64_t i = first; i < end; i++)
        g->order[first + begin[min_of(WINDOW_DEGREES - 1, g->pull[i + 1] - g->pull[i])]++] = (int32_t)i;
}

#endif
