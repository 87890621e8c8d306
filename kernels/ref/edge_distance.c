/*
 * The squared distance of the rows at both ends of each edge e: j -> i.
 *
 *   y_e = sum of (x_ik - x_jk)^2    dx_i = sum of 2 dy_e (x_i - x_j) over the edges to i, and from i to j
 */
#include "kernels/ref/loops.h"

REF(edge_distance, 0)
{
    struct rows wanted = rows_wanted(a->call, a->y);
    for (int64_t i = 0; i < a->x.rows; i++) {
        struct rows edges = rows_common(edges_of(a->adj.row, i), wanted);
        for (int64_t e = edges.first; e < edges.end; e++) {
            real sum = R(0);
            for (int64_t k = 0; k < a->x.cols; k++) {
                real d = AT(a->x, i, k) - AT(a->x, edge_end(a->adj.col, e), k);
                sum += d * d;
            }
            AT(a->y, e, 0) = sum;
        }
    }
}

/* Edge e between i and j. */
static void add_end(const struct edge_distance_backward_args *a, int64_t e, int64_t i, int64_t j)
{
    real twice = R(2) * AT(a->dy, e, 0);
    for (int64_t k = 0; k < a->x.cols; k++)
        AT(a->dx, i, k) += twice * (AT(a->x, i, k) - AT(a->x, j, k));
}

REF(edge_distance_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    begin_sums(a->call, a->dx);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct rows in = edges_of(a->adj.row, i), out = edges_of(a->adj.out_row, i);
        for (int64_t e = in.first; e < in.end; e++)
            add_end(a, e, i, edge_end(a->adj.col, e));
        for (int64_t n = out.first; n < out.end; n++)
            add_end(a, edge_end(a->adj.out_edge, n), i, edge_end(a->adj.out_col, n));
    }
}
