/*
 * The aggregation of GatedGCN (Bresson and Laurent, "Residual gated graph ConvNets", 2017): a mean of the
 * senders' rows, in each column weighted by gates of the edges e: j -> i. Gates may have weights w = 1 / (1 +
 * exp(-g)); otherwise w = 1.
 *
 *   s_e = 1 / (1 + exp(-h_e))    sum_i = eps + sum of w s_e    y_i = sum of w s_e b_j / sum_i
 *   f_i = dy_i / sum_i    db_j = sum of w s_e f_i over the edges from j
 *   r_e = f_i (b_j - y_i) s_e    dh_e = w r_e (1 - s_e)    dg_e = w (1 - w) sum of r_e over the columns
 */
#include "kernels/ref/loops.h"

static real logistic(real h)
{
    return R(1) / (R(1) + r_exp(-h));
}

static real weight_of(struct mat g, int64_t e)
{
    return mat_present(g) ? logistic(AT(g, e, 0)) : R(1);
}

/* x, times w if there are weights. */
static real weighted(struct mat g, real w, real x)
{
    return mat_present(g) ? w * x : x;
}

static void aggregate(const struct gated_mean_args *a, int64_t i, struct mat sum)
{
    struct rows edges = edges_of(a->adj.row, i);
    for (int64_t k = 0; k < a->y.cols; k++)
        AT(sum, 0, k) = R(a->eps);
    for (int64_t e = edges.first; e < edges.end; e++) {
        real w = weight_of(a->g, e);
        for (int64_t k = 0; k < a->y.cols; k++) {
            real s = weighted(a->g, w, logistic(AT(a->h, e, k)));
            AT(sum, 0, k) += s;
            AT(a->y, i, k) += s * AT(a->b, edge_end(a->adj.col, e), k);
        }
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

/* Edge e from j to i, for which f is given. */
static void edge_backward(const struct gated_mean_backward_args *a, int64_t e, int64_t j, int64_t i,
                          struct mat f, bool edge, bool db)
{
    bool weights = mat_present(a->g);
    real w = weight_of(a->g, e), all = R(0);
    for (int64_t k = 0; k < a->dy.cols; k++) {
        real s = logistic(AT(a->h, e, k));
        if (edge) {
            real r = AT(f, i, k) * (AT(a->b, j, k) - AT(a->y, i, k)) * s;
            put(a->dh, e, k, weighted(a->g, w, r * (R(1) - s)));
            if (weights)
                all += r;
        }
        if (db)
            AT(a->db, j, k) += weighted(a->g, w, s) * AT(f, i, k);
    }
    if (weights && edge)
        put(a->dg, e, 0, w * (R(1) - w) * all);
}

REF(gated_mean_backward, a->dy.rows * a->dy.cols)
{
    struct rows dh = rows_wanted(a->call, a->dh), db = rows_wanted(a->call, a->db);
    struct mat f = scratch_rows(a->call, 0, a->dy.rows, a->dy.cols);
    begin_sums(a->call, a->db);
    for (int64_t i = 0; i < a->dy.rows; i++)
        for (int64_t k = 0; k < a->dy.cols; k++)
            AT(f, i, k) = AT(a->dy, i, k) / AT(a->sum, i, k);
    for (int64_t j = 0; j < a->b.rows; j++) {
        struct rows edges = edges_of(a->adj.out_row, j);
        for (int64_t n = edges.first; n < edges.end; n++) {
            int64_t e = edge_end(a->adj.out_edge, n), i = edge_end(a->adj.out_col, n);
            if (rows_has(db, j) || rows_has(dh, e))
                edge_backward(a, e, j, i, f, rows_has(dh, e), rows_has(db, j));
        }
    }
}
