/*
 * Division of the edges of a task (edges.h) into groups of a few dozen, so that the arithmetic of short rows
 * is done side by side: a group consists of whole rows, or of some edges of one row.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_GROUPS_H
#define GTMARK_KERNELS_CPU_EDGE_GROUPS_H

#include "kernels/cpu/edges.h"

enum { EDGE_NODES = 16 }; /* rows in a group, at most */

/* Consecutive rows. Row k has edges begins[k] .. begins[k + 1] - 1, counted from the group's first. */
struct edge_nodes {
    int64_t count, begins[EDGE_NODES + 1];
};

/* Edges first .. end - 1, of whole rows or of one piece. */
struct edge_group {
    struct edge_piece piece; /* the only one, or the first row */
    int64_t first, end;
    struct edge_nodes nodes;
};

/* Where the next group begins: at an edge of the piece `at`. */
struct edge_walk {
    struct edge_piece at, stop;
    int64_t edge;
};

static inline struct edge_walk edge_walk(const struct edge_tasks *s, int64_t t)
{
    struct edge_piece at = edge_first(s, t);
    return (struct edge_walk){at, edge_first_from(s, t + 1, at.row), at.first};
}

/* Whether a group begins, or ends, its only piece; groups of several rows do both. */
static inline bool edge_group_opens(const struct edge_group *g)
{
    return g->first == g->piece.first;
}

static inline bool edge_group_closes(const struct edge_group *g)
{
    return g->end >= g->piece.end;
}

/* Whether a group consists of whole rows. */
static inline bool edge_group_whole(const struct edge_group *g)
{
    return g->piece.begins && g->piece.ends && edge_group_opens(g) && edge_group_closes(g);
}

/* Appends a row's remaining edges, up to `end`. */
static inline void edge_group_add(struct edge_group *g, int64_t end)
{
    g->end = end;
    g->nodes.begins[++g->nodes.count] = end - g->first;
}

/* The next group, of at most `most` edges and rows together, most > 1; false if there is none left. */
static inline bool edge_group_next(const struct edge_tasks *s, struct edge_walk *w, int64_t most,
                                   struct edge_group *g)
{
    if (!edge_before(w->at, w->stop))
        return false;
    g->piece = edge_clip(w->at, w->stop);
    g->first = w->edge;
    g->nodes.count = g->nodes.begins[0] = 0;
    edge_group_add(g, min_of(g->piece.end, g->first + most - 1));
    if (edge_group_closes(g))
        w->at = edge_next(s, w->at);
    while (edge_group_whole(g) && g->nodes.count < EDGE_NODES && w->at.row < w->stop.row &&
           w->at.end - g->first + g->nodes.count + 1 <= most) {
        edge_group_add(g, w->at.end);
        w->at = edge_next(s, w->at);
    }
    w->edge = g->end;
    return true;
}

/* Row k of a group of whole rows, as a group. */
static inline struct edge_group edge_group_row(const struct edge_group *g, int64_t k)
{
    int64_t first = g->first + g->nodes.begins[k], end = g->first + g->nodes.begins[k + 1];
    struct edge_group row = {.piece = {g->piece.row + k, first, end, true, true}, .first = first};
    edge_group_add(&row, end);
    return row;
}

#endif
