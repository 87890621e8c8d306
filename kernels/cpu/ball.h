/*
 * The ball of a block of COLUMNS nodes: those from which one of the block can be reached in the steps taken
 * so far. Ops that start a vector at each node and apply a sparse matrix again and again (walk.c, heat.c)
 * access only the rows of these nodes. A ball that contains most nodes is processed in order of their numbers
 * of edges, which makes loops over edges predictable, and grows by a look at the nodes outside, which are
 * fewer (after Beamer, Asanovic and Patterson, "Direction-optimizing breadth-first search", 2012).
 */
#ifndef GTMARK_KERNELS_CPU_BALL_H
#define GTMARK_KERNELS_CPU_BALL_H

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vectors.h"

enum { COLUMNS = 16, WINDOW = 1024, WINDOW_DEGREES = 64 };

/* The edges along which a step pulls, those along which the ball grows, and the latter from their other end.
 */
struct ball_graph {
    const int64_t *pull, *grow, *out; /* offsets of each node's edges */
    const int32_t *from, *to, *ends;
    int32_t *order; /* all nodes, in the order in which a step over most visits them */
    int64_t nodes;
};

/* A step pulls along the edges along which the ball grows. */
static inline struct ball_graph ball_graph_of(struct edges adj, int64_t nodes)
{
    return (struct ball_graph){.pull = adj.row.data,
                               .grow = adj.row.data,
                               .out = adj.out_row.data,
                               .from = adj.col.data,
                               .to = adj.col.data,
                               .ends = adj.out_col.data,
                               .nodes = nodes};
}

/* State of a node: JOINS while others are looked at, INSIDE from then on. */
enum { OUTSIDE, INSIDE, JOINS };

struct ball {
    int32_t
        *node; /* one more than there are nodes: the ball, and if it has most, from the end those outside */
    uint8_t *inside;
    int64_t count, edges; /* nodes, and edges that a step over them pulls */
    int64_t followed;     /* nodes whose edges have been followed */
    bool grown, most;     /* in the last step; whether it has most nodes */
};

/*
 * Adds nodes. One that is in the ball is overwritten by the next, since a branch would be mispredicted,
 * except in small balls, where most are in it.
 */
static inline void ball_add(struct ball *b, const int32_t *nodes, int64_t n, bool small)
{
    int32_t *restrict list = b->node;
    uint8_t *restrict inside = b->inside;
    int64_t count = b->count;
    for (int64_t m = 0; m < n; m++) {
        int32_t node = nodes[m];
        if (small && inside[node] == INSIDE)
            continue;
        list[count] = node;
        count += inside[node] == OUTSIDE;
        inside[node] = INSIDE;
    }
    b->count = count;
}

/* If most nodes are in the ball, they are sorted into the order of a step over all, and those outside too. */
static inline void ball_order(const struct ball_graph *g, struct ball *b)
{
    int32_t *restrict list = b->node;
    uint8_t *restrict inside = b->inside;
    int64_t count = 0, end = g->nodes;
    b->most = 2 * b->count > g->nodes;
    for (int64_t i = 0; i < g->nodes && b->most; i++) {
        int32_t node = g->order[i], in = inside[node] != OUTSIDE;
        list[count] = list[end] = node;
        inside[node] = (uint8_t)in;
        count += in;
        end -= !in;
    }
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
    b->count = b->edges = b->followed = 0;
    for (int64_t c = 0; c < columns; c++) {
        int32_t node = (int32_t)(first + c);
        ball_add(b, &node, 1, false);
    }
    ball_count(g, b, 0);
    ball_order(g, b);
    b->grown = true;
}

/* Follows the edges of the nodes added last. */
static inline void ball_follow(const struct ball_graph *g, struct ball *b)
{
    int64_t before = b->count;
    bool small = 8 * before < g->nodes;
    for (; b->followed < before; b->followed++) {
        int64_t node = b->node[b->followed];
        ball_add(b, g->to + g->grow[node], g->grow[node + 1] - g->grow[node], small);
    }
    ball_count(g, b, before);
}

/* Adds the nodes outside with an edge to one inside. */
static inline void ball_join(const struct ball_graph *g, struct ball *b)
{
    for (int64_t m = b->count + 1, end = g->nodes + 1; m < end; m++) {
        int32_t node = b->node[m];
        int joins = 0;
        for (int64_t e = g->out[node]; e < g->out[node + 1]; e++)
            joins |= b->inside[g->ends[e]] == INSIDE;
        b->inside[node] = (uint8_t)(joins * JOINS);
        b->count += joins;
        b->edges += joins * (g->pull[node + 1] - g->pull[node]);
    }
}

/* Adds the nodes from which one of the ball can be reached in one step. */
static inline void ball_grow(const struct ball_graph *g, struct ball *b)
{
    int64_t before = b->count;
    if (b->grown && b->most)
        ball_join(g, b);
    else if (b->grown)
        ball_follow(g, b);
    b->grown = b->count > before;
    if (b->grown)
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
