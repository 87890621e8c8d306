/*
 * The edges of a row as GATv2 has them: without the loops of the graph, but with one loop behind the last
 * edge. A piece of a row is listed a few dozen edges at a time.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_LOOPS_H
#define GTMARK_KERNELS_CPU_EDGE_LOOPS_H

#include "kernels/cpu/edge_heads.h"

struct looped_edges {
    int32_t *ends; /* the other ends of `count` edges, up to ends[last] for prefetching */
    int32_t *at;   /* their positions in the matrix of edges; -1: the loop */
    int64_t count, last, next;
    bool looped;
};

/* Floats of scratch for `ends` and `at`. */
static inline int64_t looped_size(const struct edge_heads *s)
{
    return 2 * round_up(s->most + EDGE_AHEAD, EDGE_LINE);
}

static inline struct looped_edges looped_begin(const struct edge_heads *s, struct edge_piece p,
                                               float *scratch)
{
    int32_t *ends = (int32_t *)(void *)scratch, *at = ends + s->most + EDGE_AHEAD;
    return (struct looped_edges){.ends = ends, .at = at, .next = p.first, .looped = !p.ends};
}

/* Lists the next edges, `most` at most; false if there are none left. */
static inline bool looped_more(struct looped_edges *l, const struct edge_tasks *tasks, struct edge_piece p,
                               int64_t most)
{
    int64_t n = 0, e = l->next;
    for (; e < p.end && n < most; e++) {
        l->ends[n] = tasks->col[e];
        l->at[n] = (int32_t)e;
        n += tasks->col[e] != p.row;
    }
    if (e == p.end && n < most && !l->looped) {
        l->ends[n] = (int32_t)p.row;
        l->at[n++] = -1;
        l->looped = true;
    }
    l->count = l->last = n;
    for (int64_t a = e; a < min_of(e + EDGE_AHEAD, tasks->edges); a++)
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

/* Floats of the rows that looped_sums writes, and of their numbers. */
static inline int64_t looped_sums_size(const struct edge_heads *s)
{
    return s->most * (max_of(s->d, LANES) + 1);
}

/*
 * The rows of m at the listed ends, plus a row of c for each edge, or of `loop` for the loop. Row of c: the
 * edge's position, or number[position].
 */
static inline struct edge_rows looped_sums(const struct edge_heads *s, const struct looped_edges *l,
                                           struct mat m, struct mat c, struct mat loop, const int32_t *number,
                                           float *sums)
{
    int64_t ld = max_of(s->d, LANES);
    int32_t *same = (int32_t *)(void *)(sums + s->most * ld);
    for (int64_t e = 0; e < l->count; e++) {
        const float *restrict row = row_of(m, l->ends[e]), *restrict own = row_of(loop, l->ends[e]);
        float *restrict sum = sums + e * ld;
        int64_t at = l->at[e], ahead = l->at[min_of(e + EDGE_AHEAD / 2, l->count - 1)];
        if (at >= 0)
            own = row_of(c, number ? number[at] : at);
        if (number && ahead >= 0)
            edge_fetch_row(c, number[ahead]);
        edge_fetch_row(m, l->ends[min_of(e + EDGE_AHEAD / 2, l->last)]);
#pragma omp simd
        for (int64_t k = 0; k < s->d; k++)
            sum[k] = row[k] + own[k];
        for (int64_t k = s->d; k < ld; k++)
            sum[k] = 0;
        same[e] = (int32_t)e;
    }
    return (struct edge_rows){sums, ld, same, l->count - 1};
}

#endif
