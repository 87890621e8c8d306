/*
 * Division of the rows of a compressed sparse matrix of edges into tasks of nearly equal cost.
 *
 * A row costs its edges plus one, so row i begins at position row[i] + i of a line of length N + E, which is
 * cut every `size` positions (after Merrill and Garland, "Merge-based parallel sparse matrix-vector
 * multiplication", 2016). A cut moves back to the beginning of the row it falls into, so that rows stay
 * whole, except for hubs, i.e. rows longer than `size`, which are cut where it falls. The division depends on
 * the graph alone.
 *
 * A task thus consists of pieces of rows; the last may lack its end and the first its beginning. The sum of a
 * piece without an end is stored in its task's part of the scratch buffer. When all tasks are done, the task
 * with the end of a hub adds the edge_pieces_before pieces in order.
 */
#ifndef GTMARK_KERNELS_CPU_EDGES_H
#define GTMARK_KERNELS_CPU_EDGES_H

#include "kernels/cpu/cpu.h"

struct edge_tasks {
    const int64_t *row; /* nodes + 1 */
    const int32_t *col; /* never null */
    int64_t nodes, edges, size, count;
};

/*
 * The number of edges by which prefetches of so many floats for each run ahead: so many bytes at once cover
 * the latency of memory, and leave room in the first-level cache.
 */
INLINE int64_t edges_ahead(int64_t floats)
{
    enum { FLIGHT = 2048 /* floats */, MOST = 64 };
    return max_of(1, min_of(MOST, FLIGHT / floats));
}

/* Edges first .. end - 1 of a row. */
struct edge_piece {
    int64_t row, first, end;
    bool begins, ends;
};

/*
 * Enough tasks for many cores, but neither too short to be worth scheduling nor so long that they cause
 * imbalance.
 */
static inline struct edge_tasks edge_tasks(struct mat row, struct mat col)
{
    enum { LEAST = 128, MOST = 2048, WANTED = 256 };
    static const int32_t none;
    struct edge_tasks t = {.row = row.data, .col = &none, .nodes = row.rows - 1, .edges = col.rows};
    if (mat_present(col))
        t.col = col.data;
    int64_t cost = t.nodes + t.edges;
    t.size = max_of(LEAST, min_of(MOST, blocks_of(cost, WANTED)));
    t.count = blocks_of(cost, t.size);
    return t;
}

/* The first piece of task t, in a row of low .. high - 1; for t = count, the position after the last. */
static inline struct edge_piece edge_first_within(const struct edge_tasks *s, int64_t t, int64_t low,
                                                  int64_t high)
{
    int64_t at = min_of(t * s->size, s->nodes + s->edges);
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (s->row[middle] + middle <= at)
            low = middle;
        else
            high = middle;
    }
    struct edge_piece p = {low, s->row[low], s->row[min_of(low + 1, s->nodes)], true, true};
    int64_t before = at - low - s->row[low], degree = p.end - p.first;
    if (degree + 1 > s->size && before == degree)
        return (struct edge_piece){low + 1, p.end, s->row[min_of(low + 2, s->nodes)], true, true};
    if (degree + 1 > s->size && before > 0) {
        p.first += before;
        p.begins = false;
    }
    return p;
}

static inline struct edge_piece edge_first(const struct edge_tasks *s, int64_t t)
{
    return edge_first_within(s, t, 0, s->nodes + 1);
}

/* The same, knowing that it is in row `from` or soon after: found by steps of doubling length. */
static inline struct edge_piece edge_first_from(const struct edge_tasks *s, int64_t t, int64_t from)
{
    int64_t at = min_of(t * s->size, s->nodes + s->edges), low = from, high = low + 1;
    while (high <= s->nodes && s->row[high] + high <= at) {
        int64_t step = 2 * (high - low);
        low = high;
        high += step;
    }
    return edge_first_within(s, t, low, min_of(high, s->nodes + 1));
}

/* The piece p without the part that belongs to the next task, which begins with `next`. */
static inline struct edge_piece edge_clip(struct edge_piece p, struct edge_piece next)
{
    if (p.row == next.row) {
        p.end = next.first;
        p.ends = false;
    }
    return p;
}

/* Whether p, not yet clipped, begins before `next`, the beginning of the next task. */
static inline bool edge_before(struct edge_piece p, struct edge_piece next)
{
    return p.row < next.row || (p.row == next.row && p.first < next.first);
}

static inline struct edge_piece edge_next(const struct edge_tasks *s, struct edge_piece p)
{
    int64_t row = p.row + 1;
    return (struct edge_piece){row, p.end, s->row[min_of(row + 1, s->nodes)], true, true};
}

/*
 * If the first piece of task t, before `next`, is the end of a hub, the number of its preceding pieces, which
 * are in the tasks just before t; otherwise 0.
 */
static inline int64_t edge_pieces_to(const struct edge_tasks *s, int64_t t, struct edge_piece first,
                                     struct edge_piece next)
{
    if (first.begins || !edge_clip(first, next).ends)
        return 0;
    return t - (s->row[first.row] + first.row) / s->size;
}

static inline int64_t edge_pieces_before(const struct edge_tasks *s, int64_t t)
{
    struct edge_piece first = edge_first(s, t);
    return first.begins ? 0 : edge_pieces_to(s, t, first, edge_first(s, t + 1));
}

#endif
