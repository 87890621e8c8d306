/*
 * The edges of a row as GATv2 has them: without the loops of the graph, but with one loop behind the last
 * edge.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_LOOPS_H
#define GTMARK_KERNELS_CPU_EDGE_LOOPS_H

#include "kernels/cpu/edge_heads.h"

struct looped_edges {
    int32_t *ends; /* the other ends of `count` edges, up to ends[last] for prefetching */
    int32_t *at;   /* their positions in the matrix of edges; -1: a loop */
    int64_t count, last;
};

/* Floats of scratch for `ends` and `at`. */
static inline int64_t looped_size(const struct edge_heads *s)
{
    return 2 * round_up(s->most + EDGE_AHEAD, EDGE_LINE);
}

/* Lists the edges of a group, in scratch; `nodes`: of each row. */
static inline struct looped_edges looped_edges(const struct edge_heads *s, const struct edge_tasks *tasks,
                                               const struct edge_group *g, float *scratch,
                                               struct edge_nodes *nodes)
{
    int32_t *ends = (int32_t *)(void *)scratch, *at = ends + s->most + EDGE_AHEAD;
    bool looped = edge_group_closes(g) && g->piece.ends;
    int64_t n = 0, e = g->first;
    edge_nodes_clear(nodes);
    for (int64_t k = 0; k < g->nodes.count; k++) {
        int64_t row = g->piece.row + k;
        for (; e < g->first + g->nodes.begins[k + 1]; e++) {
            ends[n] = tasks->col[e];
            at[n] = (int32_t)e;
            n += tasks->col[e] != row;
        }
        if (looped) {
            ends[n] = (int32_t)row;
            at[n++] = -1;
        }
        edge_nodes_add(nodes, n);
    }
    struct looped_edges l = {ends, at, n, n - 1};
    for (int64_t a = e; a < min_of(e + EDGE_AHEAD, tasks->edges); a++)
        ends[++l.last] = tasks->col[a];
    return l;
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
 * edge's position, or number[position]; the nodes' rows of `own`, unless null, are added to it before.
 */
static inline struct edge_rows looped_sums(const struct edge_heads *s, const struct looped_edges *l,
                                           struct mat m, struct mat c, struct mat loop, const int32_t *number,
                                           const struct edge_nodes *nodes, struct edge_own own, float *sums)
{
    int64_t ld = max_of(s->d, LANES);
    int32_t *same = (int32_t *)(void *)(sums + s->most * ld);
    for (int64_t e = 0; e < l->count; e++) {
        const float *restrict row = row_of(m, l->ends[e]), *restrict edge = row_of(loop, l->ends[e]);
        const float *restrict node = own.at ? own.at + nodes->rows[e] * own.ld : NULL;
        float *restrict sum = sums + e * ld;
        int64_t at = l->at[e], ahead = l->at[min_of(e + EDGE_AHEAD / 2, l->count - 1)];
        if (at >= 0)
            edge = row_of(c, number ? number[at] : at);
        if (number && ahead >= 0)
            edge_fetch_row(c, number[ahead]);
        edge_fetch_row(m, l->ends[min_of(e + EDGE_AHEAD / 2, l->last)]);
#pragma omp simd
        for (int64_t k = 0; k < s->d; k++)
            sum[k] = row[k] + (node ? node[k] + edge[k] : edge[k]);
        for (int64_t k = s->d; k < ld; k++)
            sum[k] = 0;
        same[e] = (int32_t)e;
    }
    return (struct edge_rows){sums, ld, same, l->count - 1};
}

#endif
