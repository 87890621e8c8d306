/*
 * Multi-head attention over the edges of a graph: node i attends to the nodes j that send to it. Head h uses
 * its own D / H columns of q, k, v and y.
 *
 *   s_e = q_i . k_j / sqrt(D / H)    p_e = exp(s_e) / sum exp(s_e)    y_i = sum p_e v_j     e: j -> i
 *
 * Sums are over the edges to i; several edges may come from the same j. Without edges y and lse are zero. The
 * largest score is subtracted before exp; lse_ih = log sum exp(s_e). Backward and dropout as in attention.c.
 *
 * With rows c of the edges (Shirzad et al., "Exphormer: sparse transformers for graphs", 2023):
 *
 *   s_e = clamp(sum q_i k_j c_e / sqrt(D / H), -clamp, clamp)    p_e = exp(s_e) / (eps + sum exp(s_e))
 *
 * The gradient passes a score that is exactly +-clamp, and none beyond.
 */
#include "kernels/ref/dropped.h"

/* The score of edge e from j to i, before it is clamped; c may be absent. */
static real edge_score(struct mat q, int64_t i, struct mat k, int64_t j, struct mat c, int64_t e)
{
    real sum = mat_present(c) ? R(0) : dot(q, i, k, j);
    for (int64_t n = 0; n < q.cols && mat_present(c); n++)
        sum += AT(q, i, n) * AT(k, j, n) * AT(c, e, n);
    return sum * R(1 / sqrt((double)q.cols));
}

/* s within +-clamp, if there is a c. */
static real clamped(struct mat c, real s, double clamp)
{
    return mat_present(c) ? -r_max(-r_max(s, R(-clamp)), R(-clamp)) : s;
}

static void attend(const struct sparse_attention_args *a, const struct mask *mask, int head, int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat q = mat_cols(a->q, first, dh), k = mat_cols(a->k, first, dh);
    struct mat v = mat_cols(a->v, first, dh), y = mat_cols(a->y, first, dh), c = mat_cols(a->c, first, dh);
    struct rows edges = edges_of(a->adj.row, i);
    struct mat s = scratch_row(a->call, 0, edges.end - edges.first);

    for (int64_t e = edges.first; e < edges.end; e++)
        AT(s, 0, e - edges.first) = clamped(c, edge_score(q, i, k, edge_end(a->adj.col, e), c, e), a->clamp);
    real top = rows_any(edges) ? AT(s, 0, 0) : R(0);
    for (int64_t e = edges.first; e < edges.end; e++)
        top = r_max(top, AT(s, 0, e - edges.first));

    real sum = mat_present(c) ? R(a->eps) : R(0);
    for (int64_t n = 0; n < dh; n++)
        AT(y, i, n) = R(0);
    for (int64_t e = edges.first; e < edges.end; e++) {
        real score = AT(s, 0, e - edges.first), p = r_exp(mat_present(c) ? score : score - top);
        sum += p;
        add_scaled(y, i, dropped(mask, e * a->heads + head, p), v, edge_end(a->adj.col, e));
    }
    if (!rows_any(edges))
        sum = R(1);
    for (int64_t n = 0; n < dh; n++)
        AT(y, i, n) = AT(y, i, n) / sum;
    if (mat_present(a->lse) && mat_present(c))
        put_double(a->lse, i, head, r_log(sum));
    else if (mat_present(a->lse))
        put_sum(a->lse, i, head, top, r_log(sum));
}

REF(sparse_attention, a->adj.col.rows)
{
    struct rows rows = rows_wanted(a->call, a->y);
    struct mask storage;
    const struct mask *mask = ref_mask(a->schedule, a->key, a->p, &storage);
    for (int head = 0; head < a->heads; head++)
        for (int64_t i = rows.first; i < rows.end; i++)
            attend(a, mask, head, i);
}

/* The rows of the gradients of nodes and edges to compute. */
struct wanted {
    struct rows nodes, edges;
};

/* The gradients of q, k and c of edge e from j to i in one head, whose first column is this. */
static void edge_backward(const struct sparse_attention_backward_args *a, const struct wanted *wanted,
                          int64_t first, int64_t e, int64_t j, int64_t i, real ds)
{
    for (int64_t k = first, end = first + a->y.cols / a->heads; k < end; k++) {
        real g = ds * AT(a->c, e, k);
        if (rows_has(wanted->nodes, i))
            AT(a->dq, i, k) += g * AT(a->k, j, k);
        if (rows_has(wanted->nodes, j))
            AT(a->dk, j, k) += g * AT(a->q, i, k);
        if (rows_has(wanted->edges, e))
            put(a->dc, e, k, ds * AT(a->q, i, k) * AT(a->k, j, k));
    }
}

/* The edges to i in one head; only those that contribute to a requested row. */
static void attend_backward(const struct sparse_attention_backward_args *a, const struct mask *mask, int head,
                            const struct wanted *wanted, int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat q = mat_cols(a->q, first, dh), k = mat_cols(a->k, first, dh), v = mat_cols(a->v, first, dh);
    struct mat y = mat_cols(a->y, first, dh), dy = mat_cols(a->dy, first, dh), c = mat_cols(a->c, first, dh);
    struct mat dq = mat_cols(a->dq, first, dh), dk = mat_cols(a->dk, first, dh);
    struct mat dv = mat_cols(a->dv, first, dh);
    struct rows edges = edges_of(a->adj.row, i);
    real scale = R(1 / sqrt((double)dh)), delta = dot(dy, i, y, i);

    for (int64_t e = edges.first; e < edges.end; e++) {
        int64_t j = edge_end(a->adj.col, e);
        if (!rows_has(wanted->nodes, i) && !rows_has(wanted->nodes, j) && !rows_has(wanted->edges, e))
            continue;
        real score = edge_score(q, i, k, j, c, e), within = clamped(c, score, a->clamp);
        real p = r_exp(less_double(within, *lse_at(a->lse, i, head)));
        real dp = dropped(mask, e * a->heads + head, dot(dy, i, v, j));
        real ds = p * (dp - delta) * scale;
        if (rows_has(wanted->nodes, j))
            add_scaled(dv, j, dropped(mask, e * a->heads + head, p), dy, i);
        if (mat_present(c)) {
            edge_backward(a, wanted, first, e, j, i, r_match(within, score, ds));
            continue;
        }
        if (rows_has(wanted->nodes, i))
            add_scaled(dq, i, ds, k, j);
        if (rows_has(wanted->nodes, j))
            add_scaled(dk, j, ds, q, i);
    }
}

REF(sparse_attention_backward, 0)
{
    struct mask storage;
    const struct mask *mask = ref_mask(a->schedule, a->key, a->p, &storage);
    const struct wanted wanted = {rows_wanted(a->call, a->dk), /* has all rows of dq */
                                  rows_wanted(a->call, a->dc)};
    begin_sums(a->call, a->dq);
    begin_sums(a->call, a->dk);
    begin_sums(a->call, a->dv);
    for (int head = 0; head < a->heads; head++)
        for (int64_t i = 0; i < a->y.rows; i++)
            attend_backward(a, mask, head, &wanted, i);
}
