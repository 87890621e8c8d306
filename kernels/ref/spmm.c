/*
 * Aggregation over edges, the product of a sparse matrix of ones and a dense matrix: with self = 1 + eps, the
 * sum in GIN (Xu et al., "How powerful are graph neural networks?", 2019). Parallel edges all count. Of a
 * part of a graph x has more rows than y, and dx more than dy: those of nodes that only send.
 *
 *   y_i = self x_i + sum of x_j over the edges j -> i    dx_j = self dy_j + sum of dy_i over the edges j -> i
 */
#include "kernels/ref/loops.h"

/* y_i (+)= self x_i + sum of x over the edges of row i. */
static void aggregate(struct mat y, struct mat x, struct mat row, struct mat col, double self, int64_t i)
{
    struct rows edges = edges_of(row, i);
    for (int64_t e = edges.first; e < edges.end; e++)
        for (int64_t k = 0; k < y.cols; k++)
            AT(y, i, k) += AT(x, edge_end(col, e), k);
    for (int64_t k = 0; k < y.cols && self != 0 && i < x.rows; k++)
        AT(y, i, k) += self == 1 ? AT(x, i, k) : R(self) * AT(x, i, k);
}

REF(spmm, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    begin_sums(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        aggregate(a->y, a->x, a->adj.row, a->adj.col, a->self, i);
}

REF(spmm_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    begin_sums(a->call, a->dx);
    for (int64_t j = rows.first; j < rows.end; j++)
        aggregate(a->dx, a->dy, a->adj.out_row, a->adj.out_col, a->self, j);
}
