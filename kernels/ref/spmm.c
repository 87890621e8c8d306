/*
 * Aggregation over edges, the product of a sparse matrix of ones and a dense matrix: with self = 1 + eps, the
 * sum in GIN (Xu et al., "How powerful are graph neural networks?", 2019). Parallel edges all count. Of a
 * part of a graph x has more rows than y, and dx more than dy: those of nodes that only send.
 *
 *   y_i = self x_i + sum of x_j over the edges j -> i    dx_j = self dy_j + sum of dy_i over the edges j -> i
 *
 * With weights [s, u], those of GCN (gcn_weights.c) among others, x becomes s x, the sum is multiplied by s,
 * and u is instead of self:
 *
 *   y_i = s_i (u_i x_i + sum of s_j x_j over the edges j -> i)    dx_j = the same of dy over the edges i -> j
 */
#include "kernels/ref/loops.h"

/* What is aggregated: rows of x into y, with weights or self. */
struct sums {
    struct mat y, x, w;
    double self;
};

/* y_i (+)= self x_i + sum of x over the edges of row i. */
static void add_row(const struct sums *s, struct rows edges, struct mat col, int64_t i)
{
    for (int64_t e = edges.first; e < edges.end; e++)
        for (int64_t k = 0; k < s->y.cols; k++)
            AT(s->y, i, k) += AT(s->x, edge_end(col, e), k);
    for (int64_t k = 0; k < s->y.cols && s->self != 0 && i < s->x.rows; k++)
        AT(s->y, i, k) += s->self == 1 ? AT(s->x, i, k) : R(s->self) * AT(s->x, i, k);
}

/* y_i (+)= s_i (u_i x_i + sum of s_j x_j over the edges of row i). */
static void put_weighted(const struct sums *s, struct rows edges, struct mat col, int64_t i)
{
    for (int64_t k = 0; k < s->y.cols; k++) {
        real sum = i < s->x.rows ? AT(s->w, i, 1) * AT(s->x, i, k) : R(0);
        for (int64_t e = edges.first; e < edges.end; e++)
            sum += AT(s->w, edge_end(col, e), 0) * AT(s->x, edge_end(col, e), k);
        put(s->y, i, k, AT(s->w, i, 0) * sum);
    }
}

static void aggregate(struct call call, struct sums s, struct mat row, struct mat col)
{
    struct rows rows = rows_wanted(call, s.y);
    if (!mat_present(s.w))
        begin_sums(call, s.y);
    for (int64_t i = rows.first; i < rows.end; i++)
        (mat_present(s.w) ? put_weighted : add_row)(&s, edges_of(row, i), col, i);
}

REF(spmm, 0)
{
    struct sums s = {a->y, a->x, a->w, a->self};
    aggregate(a->call, s, a->adj.row, a->adj.col);
}

REF(spmm_backward, 0)
{
    struct sums s = {a->dx, a->dy, a->w, a->self};
    aggregate(a->call, s, a->adj.out_row, a->adj.out_col);
}
