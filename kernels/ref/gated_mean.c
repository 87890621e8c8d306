/*
 * The aggregation of GatedGCN (Bresson and Laurent, "Residual gated graph ConvNets", 2017): a mean of the
 * senders' rows, in each column weighted by gates of the edges e: j -> i.
 *
 *   s_e = 1 / (1 + exp(-h_e))    sum_i = eps + sum of s_e    y_i = sum of s_e b_j / sum_i
 *   g_i = dy_i / sum_i    db_j = sum of s_e g_i over the edges from j    dh_e = g_i (b_j - y_i) s_e (1 - s_e)
 */
#include "kernels/ref/loops.h"

static real gate(real h)
{
    return R(1) / (R(1) + r_exp(-h));
}

static void aggregate(const struct gated_mean_args *a, int64_t i, struct mat sum)
{
    struct rows edges = edges_of(a->adj.row, i);
    for (int64_t k = 0; k < a->y.cols; k++)
        AT(sum, 0, k) = R(a->eps);
    for (int64_t e = edges.first; e < edges.end; e++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            real s = gate(AT(a->h, e, k));
            AT(sum, 0, k) += s;
            AT(a->y, i, k) += s * AT(a->b, edge_end(a->adj.col, e), k);
        }
    for (int64_t k = 0; k < a->y.cols; k++) {
        AT(a->y, i, k) = AT(a->y, i, k) / AT(sum, 0, k);
        if (mat_present(a->sum))
            AT(a->sum, i, k) = AT(sum, 0, k);
    }
}

REF(gated_mean, a->y.cols)
{
    struct rows rows = rows_wanted(a->call, a->y);
    begin_sums(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        aggregate(a, i, scratch_row(a->call, 0, a->y.cols));
}

/* Edge e from j to i, for which g is given. */
static void edge_backward(const struct gated_mean_backward_args *a, int64_t e, int64_t j, int64_t i,
                          struct mat g, bool dh, bool db)
{
    for (int64_t k = 0; k < a->dy.cols; k++) {
        real s = gate(AT(a->h, e, k));
        if (dh)
            put(a->dh, e, k, AT(g, i, k) * (AT(a->b, j, k) - AT(a->y, i, k)) * s * (R(1) - s));
        if (db)
            AT(a->db, j, k) += s * AT(g, i, k);
    }
}

REF(gated_mean_backward, a->dy.rows * a->dy.cols)
{
    struct rows dh = rows_wanted(a->call, a->dh), db = rows_wanted(a->call, a->db);
    struct mat g = scratch_rows(a->call, 0, a->dy.rows, a->dy.cols);
    begin_sums(a->call, a->db);
    for (int64_t i = 0; i < a->dy.rows; i++)
        for (int64_t k = 0; k < a->dy.cols; k++)
            AT(g, i, k) = AT(a->dy, i, k) / AT(a->sum, i, k);
    for (int64_t j = 0; j < a->b.rows; j++) {
        struct rows edges = edges_of(a->adj.out_row, j);
        for (int64_t n = edges.first; n < edges.end; n++) {
            int64_t e = edge_end(a->adj.out_edge, n);
            if (rows_has(db, j) || rows_has(dh, e))
                edge_backward(a, e, j, edge_end(a->adj.out_col, n), g, rows_has(dh, e), rows_has(db, j));
        }
    }
}
