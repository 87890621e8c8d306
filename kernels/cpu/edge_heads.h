/*
 * Products of one node's row with the rows at the other ends of its edges, head by head: the building blocks
 * of attention over edges. Head h has its own D / H columns of every row.
 *
 * A head is stored as `per` vectors of LANES floats. If D / H is not a multiple of LANES, its last vector is
 * read from further left, so as not to exceed the row, or extends into the next head: a `spread` row has
 * zeros in the lanes outside the head, which makes products with it correct, and sums in those lanes are
 * never used. Rows of less than LANES floats are copied before they are read.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_HEADS_H
#define GTMARK_KERNELS_CPU_EDGE_HEADS_H

#include "kernels/cpu/edge_groups.h"
#include "kernels/cpu/vectors.h"

enum {
    EDGE_LINE = 16, /* floats per cache line */
    EDGE_AHEAD = 32 /* edges by which prefetches run ahead, at most: lists (edge_loops.h) end there */
};

struct edge_heads {
    int64_t d, dh, heads;
    int64_t per;      /* vectors per head */
    int64_t together; /* heads in one pass over the edges, a power of two; 0: heads are split */
    int64_t most;     /* edges and rows at a time, together */
    int64_t *columns; /* heads x per: the column that lane 0 of each vector reads; see edge_find_columns */
    int64_t units;    /* capacity for a number per head of `most` edges and LANES more (edge_dots) */
};

/* The rows of a matrix at the other ends of some edges. */
struct edge_rows {
    const float *at; /* of the matrix */
    int64_t ld;
    const int32_t *col;
    int64_t last; /* col[0 .. last] may be read: beyond these edges, for prefetching */
};

/* Spread rows of consecutive nodes. */
struct edge_own {
    const float *at;
    int64_t ld;
};

/* Where sums of consecutive nodes go: to spread rows. */
struct edge_target {
    float *at;
    int64_t ld;
    bool add;             /* to what they contain */
    const float *factors; /* of the results, per node and head, `padded` heads each; null: 1 */
    int64_t padded;
};

/* Floats of a spread row. */
static inline int64_t edge_spread_size(const struct edge_heads *s)
{
    return s->heads * s->per * LANES;
}

/* Whether spread rows are identical to rows. */
static inline bool edge_is_spread(const struct edge_heads *s)
{
    return s->dh % LANES == 0;
}

/* Rows in a group, at most. */
static inline int64_t edge_group_rows(const struct edge_heads *s)
{
    return min_of(EDGE_NODES, s->most);
}

/* Floats of the copies of a group's spread rows. */
static inline int64_t edge_spreads_size(const struct edge_heads *s)
{
    return edge_is_spread(s) ? 0 : edge_group_rows(s) * edge_spread_size(s);
}

static inline int64_t edge_columns_size(const struct edge_heads *s)
{
    return s->heads * s->per * (int64_t)(sizeof(int64_t) / 4);
}

/* Floats of the copies of rows of less than LANES floats. */
static inline int64_t edge_copies_size(const struct edge_heads *s)
{
    return s->d < LANES ? s->most * (LANES + 1) : 0;
}

/* Prefetches row i, if it exists. */
INLINE void edge_fetch_row(struct mat m, int64_t i)
{
    for (int64_t k = 0; k < m.cols && i < m.rows; k += EDGE_LINE)
        __builtin_prefetch(row_of(m, i) + k, 0);
}

/*
 * Prefetches as many rows as a group has, those after it: the rows of a task are too few for the hardware's
 * prefetcher.
 */
INLINE void edge_fetch_next(struct mat m, const struct edge_group *g)
{
    int64_t first = g->piece.row + g->nodes.count;
    for (int64_t i = first; i < first + g->nodes.count; i++)
        edge_fetch_row(m, i);
}

/* Copies a number per head, as vec4s, but writes nothing beyond them. */
INLINE void edge_put_heads(const float *from, int64_t heads, float *to)
{
    int64_t h = 0;
    for (; h + 4 <= heads; h += 4)
        store4(to + h, load4(from + h));
    for (; h < heads; h++)
        to[h] = from[h];
}

#define edge_heads_of     CPU(edge_heads_of)
#define edge_find_columns CPU(edge_find_columns)
#define edge_spread       CPU(edge_spread)
#define edge_collect      CPU(edge_collect)
#define edge_copy         CPU(edge_copy)
#define edge_dots         CPU(edge_dots)
#define edge_weigh        CPU(edge_weigh)
#define edge_leaky_dots   CPU(edge_leaky_dots)
#define edge_leaky_weigh  CPU(edge_leaky_weigh)

struct edge_heads edge_heads_of(int64_t d, int64_t heads);

/* Fills s->columns, in scratch of edge_columns_size; without scratch it is null. */
void edge_find_columns(struct edge_heads *s, float *scratch);

/* Converts a row of D floats to a spread row: in `copy`, or the row itself if they are identical. */
const float *edge_spread(const struct edge_heads *s, const float *row, float *copy);

/* row = the spread row, or row += it if acc. */
void edge_collect(const struct edge_heads *s, const float *spread, float *row, bool acc);

/* Copies n rows of less than LANES floats. */
struct edge_rows edge_copy(const struct edge_heads *s, struct edge_rows rows, int64_t n, float *copies);

/* The rows of m at the other ends of edges first .. first + n - 1, n <= most. */
static inline struct edge_rows edge_ends(const struct edge_heads *s, const struct edge_tasks *tasks,
                                         struct mat m, int64_t first, int64_t n, float *copies)
{
    struct edge_rows rows = {m.data, m.ld, tasks->col + first, tasks->edges - 1 - first};
    return s->d < LANES ? edge_copy(s, rows, n, copies) : rows;
}

/* Rows row .. row + count - 1 of m as spread rows, in `copies` unless they are identical. */
static inline struct edge_own edge_spreads(const struct edge_heads *s, struct mat m, int64_t row,
                                           int64_t count, float *copies)
{
    int64_t size = edge_spread_size(s);
    if (edge_is_spread(s))
        return (struct edge_own){row_of(m, row), m.ld};
    for (int64_t k = 0; k < count; k++)
        edge_spread(s, row_of(m, row + k), copies + k * size);
    return (struct edge_own){copies, size};
}

/*
 * dots[e * heads + h] = the product in head h of row e with its node's spread row, undefined for up to LANES
 * more edges. Meanwhile prefetches rows a few edges ahead, if `ahead`.
 */
void edge_dots(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_own own,
               const struct edge_rows *rows, bool ahead, float *dots);

/* Per node, sums weights[e * heads + h] times head h of row e, with the same prefetching. */
void edge_weigh(const struct edge_heads *s, const struct edge_nodes *nodes, const float *weights,
                const struct edge_rows *rows, bool ahead, struct edge_target sums);

/*
 * The same of leaky(own + row e), leaky(x) = x for x > 0, otherwise slope x, where `att` is a spread row:
 * dots[e * heads + h] = its product with att in head h; prefetches `rows`.
 */
struct edge_leaky {
    struct edge_own own;
    const float *att;
    float slope;
};
void edge_leaky_dots(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_leaky l,
                     const struct edge_rows *rows, float *dots);

/*
 * Per node, sums weights[e * heads + h] leaky'(own + row e); adds weights[...] leaky(own + row e) to one
 * spread row.
 */
void edge_leaky_weigh(const struct edge_heads *s, const struct edge_nodes *nodes, struct edge_leaky l,
                      const float *weights, const struct edge_rows *rows, struct edge_target slopes,
                      float *values);

#endif
