/*
 * A row for each edge e: j -> i, from those of its ends and its own.
 *
 *   y_e = a_i + b_j + c_e    da_i = sum of dy over the edges to i    db_j = sum of dy over the edges from j
 */
#include "kernels/ref/loops.h"

REF(edge_add, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = 0; i < a->a.rows; i++) {
        struct rows edges = rows_common(edges_of(a->adj.row, i), rows);
        for (int64_t e = edges.first; e < edges.end; e++)
            for (int64_t k = 0; k < a->y.cols; k++) {
                real sum = AT(a->a, i, k) + AT(a->b, edge_end(a->adj.col, e), k);
                AT(a->y, e, k) = mat_present(a->c) ? sum + AT(a->c, e, k) : sum;
            }
    }
}

REF(edge_add_backward, 0)
{
    struct rows da = rows_wanted(a->call, a->da), db = rows_wanted(a->call, a->db);
    begin_sums(a->call, a->da);
    begin_sums(a->call, a->db);
    for (int64_t i = da.first; i < da.end; i++) {
        struct rows edges = edges_of(a->adj.row, i);
        for (int64_t e = edges.first; e < edges.end; e++)
            for (int64_t k = 0; k < a->dy.cols; k++)
                AT(a->da, i, k) += AT(a->dy, e, k);
    }
    for (int64_t j = db.first; j < db.end; j++) {
        struct rows edges = edges_of(a->adj.out_row, j);
        for (int64_t n = edges.first; n < edges.end; n++)
            for (int64_t k = 0; k < a->dy.cols; k++)
                AT(a->db, j, k) += AT(a->dy, edge_end(a->adj.out_edge, n), k);
    }
}
