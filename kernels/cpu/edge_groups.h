/*
 * Division of the edges of a task (edges.h) into groups of up to 256, so that the arithmetic of short rows
 * is done side by side: a group consists of whole rows, or of some edges of one row.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_GROUPS_H
#define GTMARK_KERNELS_CPU_EDGE_GROUPS_H

#include "kernels/cpu/edges.h"

enum {
    EDGE_NODES = 48, /* rows in a group, at most */
    EDGE_MOST = 256, /* edges and rows together, at most */
    EDGE_FILL = 16   /* entries of `rows` written at once */
};

/* Consecutive rows. Row k has edges begins[k] .. begins[k + 1] - 1, counted from the group's first. */
struct edge_nodes {
    int64_t count, begins[EDGE_NODES + 1];
    int32_t rows[EDGE_MOST + EDGE_FILL]; /* the row of each edge */
};

static inline void edge_nodes_clear(struct edge_nodes *n)
{
    n->count = n->begins[0] = 0;
}

/* Appends a row whose edges end before `end`. Entries beyond are overwritten by the next row's. */
static inline void edge_nodes_add(struct edge_nodes *n, int64_t end)
{
    int64_t e = n->begins[n->count];
    do {
        for (int k = 0; k < EDGE_FILL; k++)
            n->rows[e + k] = (int32_t)n->count;
    } while ((e += EDGE_FILL) < end);
    n->begins[++n->count] = end;
}

/* Edges first .. end - 1, of whole rows or of one piece. */
struct edge_group {
    struct edge_piece piece; /* the only one, or the first row */
    int64_t first, end;
    struct edge_nodes nodes;
};

/*
 * A thread's position: the next group begins at `edge`, in the piece `at`; the task ends at `stop`, where
 * task number `next` begins. At first zero.
 */
struct edge_walk {
    int64_t edge, next;
    struct edge_piece at, stop;
};

/*
 * Begins task t, at once if it follows the thread's last, and returns the number of pieces before its first
 * (edge_pieces_to).
 */
static inline int64_t edge_walk_begin(const struct edge_tasks *s, int64_t t, struct edge_walk *w)
{
    struct edge_piece first = t > 0 && w->next == t ? w->stop : edge_first(s, t);
    *w = (struct edge_walk){first.first, t + 1, first, edge_first_from(s, t + 1, first.row)};
    return edge_pieces_to(s, t, first, w->stop);
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
    edge_nodes_add(&g->nodes, end - g->first);
}

/* The next group, of at most `most` edges and rows together, most > 1; false if there is none left. */
static inline bool edge_group_next(const struct edge_tasks *s, struct edge_walk *w, int64_t most,
                                   struct edge_group *g)
{
    if (!edge_before(w->at, w->stop))
        return false;
    g->piece = edge_clip(w->at, w->stop);
    g->first = w->edge;
    edge_nodes_clear(&g->nodes);
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
