/*
 * Attention over edges with scores that are not products of two nodes' vectors (Brody, Alon and Yahav, "How
 * attentive are graph attention networks?", 2022). Head h has its own D / H columns of every row.
 *
 *   z_e = leaky(r_i + l_j + c_e)    s_e = z_e . att    p_e = exp(s_e) / sum exp(s_e)    y_i = b + sum p_e l_j
 *
 * with leaky(x) = x for x > 0, otherwise slope x, and e: j -> i. As in PyTorch Geometric, loops of the graph
 * are left out, and one is added to each node, behind its edges, with `loop` instead of c. An edge that is
 * left out has p_e = 0. The largest score is subtracted before exp; lse_ih = log sum exp(s_e).
 *
 *   ds_e = p_e (dy_i . l_j - dy_i . (y_i - b))    dl_j = sum p_e dy_i + g_e    dr_i = sum g_e    dc_e = g_e
 *   g_e = ds_e att * leaky'(r_i + l_j + c_e), where leaky'(0) = slope    datt = sum ds_e z_e    db = sum dy_i
 */
#include "kernels/ref/loops.h"

/* The sender of edge e to i, where e = edges.end is the loop that is added. */
static int64_t sender(const struct edges *adj, struct rows edges, int64_t e, int64_t i)
{
    return e < edges.end ? edge_end(adj->col, e) : i;
}

/* What the scores of a head depend on: its columns; c and loop may be absent. */
struct leaky {
    struct mat att, l, r, c, loop;
    double slope;
    struct mat u, z; /* scratch: r_i + l_j + c_e of the current edge, and leaky of it */
};

/* Row `row` of c, or of loop; none if it is absent. */
struct edge_row {
    struct mat in;
    int64_t row;
};

static struct edge_row row_of_edge(const struct leaky *s, struct rows edges, int64_t e, int64_t i)
{
    struct edge_row c = {s->c, e}, loop = {s->loop, i};
    return e < edges.end ? c : loop;
}

/* Sets u and z, and returns the score of the edge from j to i. */
static real leaky_score(const struct leaky *s, int64_t i, int64_t j, struct edge_row edge)
{
    real sum = R(0);
    for (int64_t k = 0; k < s->att.cols; k++) {
        real x = AT(s->r, i, k) + AT(s->l, j, k);
        if (mat_present(edge.in))
            x += AT(edge.in, edge.row, k);
        real y = r_max(x, R(s->slope) * x);
        AT(s->u, 0, k) = x;
        AT(s->z, 0, k) = y;
        sum += y * AT(s->att, 0, k);
    }
    return sum;
}

/* Those columns of an optional matrix. */
static struct mat head_cols(struct mat m, int64_t first, int64_t cols)
{
    return mat_present(m) ? mat_cols(m, first, cols) : m;
}

#define LEAKY_OF(a, first, dh)                                                                               \
    {                                                                                                        \
        mat_cols((a)->att, first, dh), mat_cols((a)->l, first, dh), mat_cols((a)->r, first, dh),             \
            head_cols((a)->c, first, dh), head_cols((a)->loop, first, dh), (a)->slope,                       \
            scratch_row((a)->call, 0, dh), scratch_row((a)->call, dh, dh),                                   \
    }

static void attend(const struct gatv2_args *a, int head, int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat y = mat_cols(a->y, first, dh), b = mat_cols(a->b, first, dh);
    struct rows edges = edges_of(a->adj.row, i);
    const struct leaky in = LEAKY_OF(a, first, dh);
    struct mat s = scratch_row(a->call, 2 * dh, edges.end - edges.first + 1);

    for (int64_t e = edges.first; e <= edges.end; e++)
        AT(s, 0, e - edges.first) =
            leaky_score(&in, i, sender(&a->adj, edges, e, i), row_of_edge(&in, edges, e, i));
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
        add_scaled(y, i, p, in.l, j);
    }
    for (int64_t c = 0; c < dh; c++)
        AT(y, i, c) = AT(y, i, c) / sum + AT(b, 0, c);
    if (mat_present(a->lse))
        put_sum(a->lse, i, head, top, r_log(sum));
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

/* The rows of each gradient to compute. */
struct wanted {
    struct rows nodes, edges, loops;
    bool att; /* and that of b */
};

/* g of an edge to i, or of the loop. */
static void put_edge(const struct gatv2_backward_args *a, const struct wanted *wanted, struct rows edges,
                     int64_t e, int64_t i, int64_t k, real g)
{
    if (e < edges.end && rows_has(wanted->edges, e))
        put(a->dc, e, k, edge_end(a->adj.col, e) == i ? R(0) : g);
    if (e == edges.end && rows_has(wanted->loops, i))
        put(a->dloop, i, k, g);
}

/* The edges to i in one head; only those that contribute to a requested row, all if that of att is. */
static void attend_backward(const struct gatv2_backward_args *a, int head, const struct wanted *wanted,
                            int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat y = mat_cols(a->y, first, dh), b = mat_cols(a->b, first, dh);
    struct mat dy = mat_cols(a->dy, first, dh), dl = mat_cols(a->dl, first, dh);
    struct mat dr = mat_cols(a->dr, first, dh), datt = mat_cols(a->datt, first, dh);
    const struct leaky in = LEAKY_OF(a, first, dh);
    struct rows edges = edges_of(a->adj.row, i);
    real delta = mean_of_products(dy, y, b, i);

    for (int64_t e = edges.first; e <= edges.end; e++) {
        int64_t j = sender(&a->adj, edges, e, i);
        bool rows = rows_has(wanted->nodes, i) || rows_has(wanted->nodes, j) || rows_has(wanted->loops, i);
        if (!wanted->att && !rows && !rows_has(wanted->edges, e))
            continue;
        real p = r_exp(
            less_double(leaky_score(&in, i, j, row_of_edge(&in, edges, e, i)), *lse_at(a->lse, i, head)));
        if (j == i && e < edges.end)
            p = R(0);
        real ds = p * (dot(dy, i, in.l, j) - delta);
        if (rows_has(wanted->nodes, j))
            add_scaled(dl, j, p, dy, i);
        if (wanted->att)
            add_scaled(datt, 0, ds, in.z, 0);
        for (int64_t k = 0; k < dh; k++) {
            real g = ds * AT(in.att, 0, k);
            g = r_choose(AT(in.u, 0, k), g, R(a->slope) * g);
            if (rows_has(wanted->nodes, j))
                AT(dl, j, k) += g;
            if (rows_has(wanted->nodes, i))
                AT(dr, i, k) += g;
            put_edge(a, wanted, edges, e, i, first + k, g);
        }
    }
}

REF(gatv2_backward, 2 * a->y.cols)
{
    const struct wanted wanted = {rows_wanted(a->call, a->dl), rows_wanted(a->call, a->dc),
                                  rows_wanted(a->call, a->dloop), rows_any(rows_wanted(a->call, a->datt))};
    begin_sums(a->call, a->dl);
    begin_sums(a->call, a->dr);
    begin_sums(a->call, a->datt);
    begin_sums(a->call, a->db);
    for (int head = 0; head < a->heads; head++)
        for (int64_t i = 0; i < a->y.rows; i++)
            attend_backward(a, head, &wanted, i);
    for (int64_t i = 0; i < a->y.rows && wanted.att; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->db, 0, k) += AT(a->dy, i, k);
}
