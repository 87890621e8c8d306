/*
 * The sum in GINE (Hu et al., "Strategies for pre-training graph neural networks", 2020), with self = 1 +
 * eps. Parallel edges all count. Messages may have weights w = 1 / (1 + exp(-g)); otherwise w = 1.
 *
 *   y_i = self x_i + sum of w relu(x_j + e) over the edges e: j -> i
 *   f_e = dy_i where x_j + e > 0, else 0    de = w f    dx_j = self dy_j + sum of w f over the edges from j
 *   dg_e = w (1 - w) sum of f (x_j + e) over the columns
 */
#include "kernels/ref/loops.h"

/* y_i += self x_i */
static void add_self(struct mat y, struct mat x, double self, int64_t i)
{
    for (int64_t k = 0; k < y.cols && self != 0; k++)
        AT(y, i, k) += self == 1 ? AT(x, i, k) : R(self) * AT(x, i, k);
}

static real weight_of(struct mat g, int64_t e)
{
    return mat_present(g) ? R(1) / (R(1) + r_exp(-AT(g, e, 0))) : R(1);
}

/* x, times w if there are weights. */
static real weighted(struct mat g, real w, real x)
{
    return mat_present(g) ? w * x : x;
}

REF(gine, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    begin_sums(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct rows edges = edges_of(a->adj.row, i);
        for (int64_t e = edges.first; e < edges.end; e++) {
            real w = weight_of(a->g, e);
            for (int64_t k = 0; k < a->y.cols; k++)
                AT(a->y, i, k) +=
                    weighted(a->g, w, r_max(AT(a->x, edge_end(a->adj.col, e), k) + AT(a->e, e, k), R(0)));
        }
        add_self(a->y, a->x, a->self, i);
    }
}

/* Edge e from j to i. */
static void edge_backward(const struct gine_backward_args *a, int64_t e, int64_t j, int64_t i, bool dx,
                          bool edge)
{
    real w = weight_of(a->g, e), along = R(0);
    for (int64_t k = 0; k < a->dy.cols; k++) {
        real z = AT(a->x, j, k) + AT(a->e, e, k), f = weighted(a->g, w, r_gate(z, AT(a->dy, i, k)));
        if (edge)
            put(a->de, e, k, f);
        if (dx)
            AT(a->dx, j, k) += f;
        if (mat_present(a->g))
            along += r_gate(z, AT(a->dy, i, k)) * z;
    }
    if (mat_present(a->g) && edge)
        put(a->dg, e, 0, w * (R(1) - w) * along);
}

REF(gine_backward, 0)
{
    struct rows dx = rows_wanted(a->call, a->dx), de = rows_wanted(a->call, a->de);
    begin_sums(a->call, a->dx);
    for (int64_t j = 0; j < a->x.rows; j++) {
        struct rows edges = edges_of(a->adj.out_row, j);
        for (int64_t n = edges.first; n < edges.end; n++) {
            int64_t e = edge_end(a->adj.out_edge, n), i = edge_end(a->adj.out_col, n);
            if (rows_has(dx, j) || rows_has(de, e))
                edge_backward(a, e, j, i, rows_has(dx, j), rows_has(de, e));
        }
        if (rows_has(dx, j))
            add_self(a->dx, a->dy, a->self, j);
    }
}
