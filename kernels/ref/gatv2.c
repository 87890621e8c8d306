/*
 * Attention over edges with scores that are not products of two nodes' vectors (Brody, Alon and Yahav, "How
 * attentive are graph attention networks?", 2022). Head h has its own D / H columns of every row.
 *
 *   z_e = leaky(r_i + l_j)    s_e = z_e . att    p_e = exp(s_e) / sum exp(s_e)    y_i = b + sum p_e l_j
 *
 * with leaky(x) = x for x > 0, otherwise slope x, and e: j -> i. As in PyTorch Geometric, loops of the graph
 * are left out, and one is added to each node, behind its edges. An edge that is left out has p_e = 0. The
 * largest score is subtracted before exp; lse_ih = log sum exp(s_e).
 *
 *   ds_e = p_e (dy_i . l_j - dy_i . (y_i - b))    g_e = ds_e att * leaky'(r_i + l_j), where leaky'(0) = slope
 *   dl_j = sum p_e dy_i + g_e    dr_i = sum g_e    datt = sum ds_e z_e    db = sum dy_i
 */
#include "kernels/ref/loops.h"

/* The sender of edge e to i, where e = edges.end is the loop that is added. */
static int64_t sender(const struct edges *adj, struct rows edges, int64_t e, int64_t i)
{
    return e < edges.end ? edge_end(adj->col, e) : i;
}

/* Sets u = r_i + l_j and z = leaky(u), and returns the score. */
static real leaky_score(struct mat att, struct mat r, int64_t i, struct mat l, int64_t j, double slope,
                        struct mat u, struct mat z)
{
    real sum = R(0);
    for (int64_t c = 0; c < att.cols; c++) {
        real x = AT(r, i, c) + AT(l, j, c), y = r_max(x, R(slope) * x);
        AT(u, 0, c) = x;
        AT(z, 0, c) = y;
        sum += y * AT(att, 0, c);
    }
    return sum;
}

static void attend(const struct gatv2_args *a, int head, int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat l = mat_cols(a->l, first, dh), r = mat_cols(a->r, first, dh), b = mat_cols(a->b, first, dh);
    struct mat att = mat_cols(a->att, first, dh), y = mat_cols(a->y, first, dh);
    struct rows edges = edges_of(a->adj.row, i);
    struct mat u = scratch_row(a->call, 0, dh), z = scratch_row(a->call, dh, dh);
    struct mat s = scratch_row(a->call, 2 * dh, edges.end - edges.first + 1);

    for (int64_t e = edges.first; e <= edges.end; e++)
        AT(s, 0, e - edges.first) = leaky_score(att, r, i, l, sender(&a->adj, edges, e, i), a->slope, u, z);
    real top = AT(s, 0, edges.end - edges.first);
    for (int64_t e = edges.first; e < edges.end; e++)
        top = r_max(top, AT(s, 0, e - edges.first));

    real sum = R(0);
    for (int64_t c = 0; c < dh; c++)
        AT(y, i, c) = R(0);
    for (int64_t e = edges.first; e <= edges.end; e++) {
        int64_t j = sender(&a->adj, edges, e, i);
        real p = r_exp(AT(s, 0, e - edges.first) - top);
        if (j == i && e < edges.end)
            p = R(0);
        sum += p;
        add_scaled(y, i, p, l, j);
    }
    for (int64_t c = 0; c < dh; c++)
        AT(y, i, c) = AT(y, i, c) / sum + AT(b, 0, c);
    if (mat_present(a->lse))
        AT(a->lse, i, head) = top + r_log(sum);
}

REF(gatv2, 2 * a->y.cols + a->adj.col.rows + 1)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int head = 0; head < a->heads; head++)
        for (int64_t i = rows.first; i < rows.end; i++)
            attend(a, head, i);
}

/* dy_i . (y_i - b), in the columns of a head. */
static real mean_of_products(struct mat dy, struct mat y, struct mat b, int64_t i)
{
    real sum = R(0);
    for (int64_t c = 0; c < y.cols; c++)
        sum += AT(dy, i, c) * (AT(y, i, c) - AT(b, 0, c));
    return sum;
}

/* The edges to i in one head; only those that contribute to a requested row, all if that of att is. */
static void attend_backward(const struct gatv2_backward_args *a, int head, struct rows wanted, bool all,
                            int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat l = mat_cols(a->l, first, dh), r = mat_cols(a->r, first, dh), b = mat_cols(a->b, first, dh);
    struct mat att = mat_cols(a->att, first, dh), y = mat_cols(a->y, first, dh);
    struct mat dy = mat_cols(a->dy, first, dh), dl = mat_cols(a->dl, first, dh);
    struct mat dr = mat_cols(a->dr, first, dh), datt = mat_cols(a->datt, first, dh);
    struct mat u = scratch_row(a->call, 0, dh), z = scratch_row(a->call, dh, dh);
    struct rows edges = edges_of(a->adj.row, i);
    real delta = mean_of_products(dy, y, b, i);

    for (int64_t e = edges.first; e <= edges.end; e++) {
        int64_t j = sender(&a->adj, edges, e, i);
        if (!all && !rows_has(wanted, i) && !rows_has(wanted, j))
            continue;
        real p = r_exp(leaky_score(att, r, i, l, j, a->slope, u, z) - AT(a->lse, i, head));
        if (j == i && e < edges.end)
            p = R(0);
        real ds = p * (dot(dy, i, l, j) - delta);
        if (rows_has(wanted, j))
            add_scaled(dl, j, p, dy, i);
        if (all)
            add_scaled(datt, 0, ds, z, 0);
        for (int64_t c = 0; c < dh; c++) {
            real g = ds * AT(att, 0, c);
            g = r_choose(AT(u, 0, c), g, R(a->slope) * g);
            if (rows_has(wanted, j))
                AT(dl, j, c) += g;
            if (rows_has(wanted, i))
                AT(dr, i, c) += g;
        }
    }
}

REF(gatv2_backward, 2 * a->y.cols)
{
    struct rows wanted = rows_wanted(a->call, a->dl);
    bool all = rows_any(rows_wanted(a->call, a->datt));
    begin_sums(a->call, a->dl);
    begin_sums(a->call, a->dr);
    begin_sums(a->call, a->datt);
    begin_sums(a->call, a->db);
    for (int head = 0; head < a->heads; head++)
        for (int64_t i = 0; i < a->y.rows; i++)
            attend_backward(a, head, wanted, all, i);
    for (int64_t i = 0; i < a->y.rows && all; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->db, 0, k) += AT(a->dy, i, k);
}
