/*
 * Aggregation over edges: y_i (+)= self x_i + sum of x_j over the edges of row i. x, y: N x D. Rows list
 * edges by receiver; in the backward, where x is dy and y is dx, by sender.
 *
 * A piece of a row is summed in registers, up to WIDE vectors of columns at a time. If D is not a multiple of
 * the vector width, the last vector overlaps the previous one and stores only the new columns.
 */
#include "kernels/cpu/edges.h"
#include "kernels/cpu/vectors.h"

enum {
    WIDE = 8,
    AHEAD = 8, /* edges by which prefetches run ahead */
    LINE = 16  /* floats per cache line */
};

struct sums {
    struct edge_tasks tasks;
    struct mat y, x;
    float self;
    float *parts; /* scratch: D per task */
};

/* The destination of a piece's sums: to (+)= self x + sums; x is null if self x is not to be added. */
struct row_target {
    float *to;
    const float *x;
    bool acc;
};

/*
 * Columns k .. k + vectors * LANES - 1 of a piece, without storing the first `skip`. `vectors` is a
 * compile-time constant after inlining.
 */
INLINE void sum_columns(const struct sums *s, int vectors, struct edge_piece p, struct row_target o,
                        int64_t k, int64_t skip)
{
    const int32_t *col = s->tasks.col;
    const float *x = (const float *)s->x.data + k;
    int64_t ld = s->x.ld, last = s->tasks.edges - 1;
    const float *self = o.x ? o.x + k : NULL;
    vec sum[WIDE];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        sum[v] = (vec){0};
        if (self)
            sum[v] += s->self * load(self + v * LANES);
    }
    for (int64_t e = p.first; e < p.end; e++) {
        const float *from = x + col[e] * ld, *ahead = x + col[min_of(e + AHEAD, last)] * ld;
        UNROLL
        for (int v = 0; v < vectors; v++) {
            if (v * LANES % LINE == 0)
                __builtin_prefetch(ahead + v * LANES);
            sum[v] += load(from + v * LANES);
        }
    }
    for (; skip > 0 && skip < LANES; skip++)
        o.to[k + skip] = sum[0][skip] + (o.acc ? o.to[k + skip] : 0);
    UNROLL
    for (int v = 0; v < vectors && !skip; v++) {
        float *to = o.to + k + v * LANES;
        if (o.acc)
            sum[v] += load(to);
        store(to, sum[v]);
    }
}

/* A piece narrower than a vector. */
static void sum_narrow(const struct sums *s, struct edge_piece p, struct row_target o)
{
    int64_t d = s->y.cols;
    float sum[LANES];
    for (int64_t k = 0; k < d; k++)
        sum[k] = (o.acc ? o.to[k] : 0) + (o.x ? s->self * o.x[k] : 0);
    for (int64_t e = p.first; e < p.end; e++) {
        const float *x = row_of(s->x, s->tasks.col[e]);
        for (int64_t k = 0; k < d; k++)
            sum[k] += x[k];
    }
    for (int64_t k = 0; k < d; k++)
        o.to[k] = sum[k];
}

static void sum_piece(const struct sums *s, struct edge_piece p, struct row_target o)
{
    int64_t d = s->y.cols, k = 0;
    for (; k + 8 * LANES <= d; k += 8 * LANES)
        sum_columns(s, 8, p, o, k, 0);
    for (; k + 4 * LANES <= d; k += 4 * LANES)
        sum_columns(s, 4, p, o, k, 0);
    for (; k + 2 * LANES <= d; k += 2 * LANES)
        sum_columns(s, 2, p, o, k, 0);
    for (; k + LANES <= d; k += LANES)
        sum_columns(s, 1, p, o, k, 0);
    if (k < d && k > 0)
        sum_columns(s, 1, p, o, d - LANES, k - (d - LANES));
    else if (k < d)
        sum_narrow(s, p, o);
}

static void sum_task(const struct sums *s, int64_t t)
{
    struct edge_piece next = edge_first(&s->tasks, t + 1);
    for (struct edge_piece p = edge_first(&s->tasks, t); edge_before(p, next); p = edge_next(&s->tasks, p)) {
        struct edge_piece own = edge_clip(p, next);
        struct row_target part = {s->parts + t * s->y.cols, NULL, false};
        struct row_target row = {row_of(s->y, p.row), s->self != 0 ? row_of(s->x, p.row) : NULL, s->y.acc};
        sum_piece(s, own, own.ends ? row : part);
    }
}

static void aggregate(const struct call *call, struct mat y, struct mat x, struct mat row, struct mat col,
                      double self)
{
    struct sums s = {edge_tasks(row, col), y, x, (float)self, call->scratch};
    int64_t d = y.cols;
    int threads = threads_for(call, (s.tasks.nodes + s.tasks.edges) * d, 1 << 15);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < s.tasks.count; t++)
            sum_task(&s, t);
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < s.tasks.count; t++) {
            int64_t before = edge_pieces_before(&s.tasks, t);
            if (before)
                add_accumulators(d, row_of(y, edge_first(&s.tasks, t).row), true, s.parts + (t - before) * d,
                                 before, d);
        }
    }
}

void CPU(spmm)(const void *args)
{
    const struct spmm_args *a = args;
    aggregate(&a->call, a->y, a->x, a->adj.row, a->adj.col, a->self);
}

int64_t CPU(spmm_scratch)(const void *args)
{
    const struct spmm_args *a = args;
    return float_bytes(edge_tasks(a->adj.row, a->adj.col).count * a->x.cols);
}

void CPU(spmm_backward)(const void *args)
{
    const struct spmm_backward_args *a = args;
    aggregate(&a->call, a->dx, a->dy, a->adj.out_row, a->adj.out_col, a->self);
}

int64_t CPU(spmm_backward_scratch)(const void *args)
{
    const struct spmm_backward_args *a = args;
    return float_bytes(edge_tasks(a->adj.out_row, a->adj.out_col).count * a->dy.cols);
}
