/*
 * The edges of a row as GATv2 has them: without the loops of the graph, but with one loop behind the last
 * edge. A piece of a row is listed a few dozen edges at a time.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_LOOPS_H
#define GTMARK_KERNELS_CPU_EDGE_LOOPS_H

#include "kernels/cpu/edge_heads.h"

enum { EDGE_LIST_AHEAD = 8 /* ends listed beyond those of the piece, for prefetching */ };

struct looped_edges {
    int32_t *ends; /* the other ends of `count` edges, up to ends[last] for prefetching */
    int64_t count, last, next;
    bool looped;
};

/* Floats of scratch for `ends`. */
static inline int64_t looped_size(const struct edge_heads *s)
{
    return s->most + EDGE_LIST_AHEAD;
}

static inline struct looped_edges looped_begin(struct edge_piece p, float *scratch)
{
    return (struct looped_edges){.ends = (int32_t *)(void *)scratch, .next = p.first, .looped = !p.ends};
}

/* Lists the next edges, `most` at most; false if there are none left. */
static inline bool looped_more(struct looped_edges *l, const struct edge_tasks *tasks, struct edge_piece p,
                               int64_t most)
{
    int64_t n = 0, e = l->next;
    for (; e < p.end && n < most; e++) {
        l->ends[n] = tasks->col[e];
        n += tasks->col[e] != p.row;
    }
    if (e == p.end && n < most && !l->looped) {
        l->ends[n++] = (int32_t)p.row;
        l->looped = true;
    }
    l->count = l->last = n;
    for (int64_t a = e; a < min_of(e + EDGE_LIST_AHEAD, tasks->edges); a++)
        l->ends[l->last++] = tasks->col[a];
    l->last--;
    l->next = e;
    return n > 0;
}

/* The rows of m at the listed ends. */
static inline struct edge_rows looped_rows(const struct edge_heads *s, const struct looped_edges *l,
                                           struct mat m, float *copies)
{
    struct edge_rows rows = {m.data, m.ld, l->ends, l->last};
    return s->d < LANES ? edge_copy(s, rows, l->count, copies) : rows;
}

#endif
