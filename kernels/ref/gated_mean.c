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

/* x, times w if there are weights. */
static real weighted(const struct mat *g, real w, real x)
{
    return g ? w * x : x;
}

static void aggregate(const struct gated_mean_args *a, const struct mat *g, int64_t i, struct mat sum)
{
    struct rows edges = edges_of(a->adj.row, i);
    for (int64_t k = 0; k < a->y.cols; k++)
        AT(sum, 0, k) = R(a->eps);
    for (int64_t e = edges.first; e < edges.end; e++) {
        real w = g ? logistic(AT(*g, e, 0)) : R(1);
        for (int64_t k = 0; k < a->y.cols; k++) {
            real s = weighted(g, w, logistic(AT(a->h, e, k)));
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

static void aggregate_all(const struct gated_mean_args *a, const struct mat *g)
{
    struct rows rows = rows_wanted(a->call, a->y);
    begin_sums(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        aggregate(a, g, i, scratch_row(a->call, 0, a->y.cols));
}

REF(gated_mean, a->y.cols)
{
    aggregate_all(a, NULL);
}

REF(weighted_gated_mean, a->y.cols)
{
    struct gated_mean_args plain = {a->call, a->y, a->sum, a->h, a->b, a->adj, a->eps};
    aggregate_all(&plain, &a->g);
}

/* Weights and their gradients. */
struct weights {
    struct mat g, dg;
};

/* Edge e from j to i, for which f is given. */
static void edge_backward(const struct gated_mean_backward_args *a, const struct weights *weights, int64_t e,
                          int64_t j, int64_t i, struct mat f, bool edge, bool db)
{
    const struct mat *g = weights ? &weights->g : NULL;
    real w = g ? logistic(AT(*g, e, 0)) : R(1), all = R(0);
    for (int64_t k = 0; k < a->dy.cols; k++) {
        real s = logistic(AT(a->h, e, k));
        if (edge) {
            real r = AT(f, i, k) * (AT(a->b, j, k) - AT(a->y, i, k)) * s;
            put(a->dh, e, k, weighted(g, w, r * (R(1) - s)));
            if (g)
                all += r;
        }
        if (db)
            AT(a->db, j, k) += weighted(g, w, s) * AT(f, i, k);
    }
    if (g && edge)
        put(weights->dg, e, 0, w * (R(1) - w) * all);
}

static void backward(const struct gated_mean_backward_args *a, const struct weights *weights)
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
                edge_backward(a, weights, e, j, i, f, rows_has(dh, e), rows_has(db, j));
        }
    }
}

REF(gated_mean_backward, a->dy.rows * a->dy.cols)
{
    backward(a, NULL);
}

REF(weighted_gated_mean_backward, a->dy.rows * a->dy.cols)
{
    struct gated_mean_backward_args plain = {a->call, a->dh, a->db, a->dy, a->y, a->h, a->b, a->sum, a->adj};
    struct weights weights = {a->g, a->dg};
    backward(&plain, &weights);
}
