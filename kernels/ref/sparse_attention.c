/*
 * Multi-head attention over the edges of a graph: node i attends to the nodes j that send to it. Head h uses
 * its own D / H columns of q, k, v and y.
 *
 *   s_e = q_i . k_j / sqrt(D / H)    p_e = exp(s_e) / sum exp(s_e)    y_i = sum p_e v_j     e: j -> i
 *
 * Sums are over the edges to i; several edges may come from the same j. Without edges y and lse are zero. The
 * largest score is subtracted before exp; lse_ih = log sum exp(s_e). Backward and dropout as in attention.c.
 */
#include "kernels/ref/dropped.h"

static real edge_score(struct mat q, int64_t i, struct mat k, int64_t j)
{
    return dot(q, i, k, j) * R(1 / sqrt((double)q.cols));
}

static void attend(const struct sparse_attention_args *a, const struct mask *mask, int head, int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat q = mat_cols(a->q, first, dh), k = mat_cols(a->k, first, dh);
    struct mat v = mat_cols(a->v, first, dh), y = mat_cols(a->y, first, dh);
    struct rows edges = edges_of(a->adj.row, i);
    struct mat s = scratch_row(a->call, 0, edges.end - edges.first);

    for (int64_t e = edges.first; e < edges.end; e++)
        AT(s, 0, e - edges.first) = edge_score(q, i, k, edge_end(a->adj.col, e));
    real top = rows_any(edges) ? AT(s, 0, 0) : R(0);
    for (int64_t e = edges.first; e < edges.end; e++)
        top = r_max(top, AT(s, 0, e - edges.first));

    real sum = R(0);
    for (int64_t c = 0; c < dh; c++)
        AT(y, i, c) = R(0);
    for (int64_t e = edges.first; e < edges.end; e++) {
        real p = r_exp(AT(s, 0, e - edges.first) - top);
        sum += p;
        add_scaled(y, i, dropped(mask, e * a->heads + head, p), v, edge_end(a->adj.col, e));
    }
    if (!rows_any(edges))
        sum = R(1);
    for (int64_t c = 0; c < dh; c++)
        AT(y, i, c) = AT(y, i, c) / sum;
    if (mat_present(a->lse))
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

/* The edges to i in one head; only those that contribute to a requested row. */
static void attend_backward(const struct sparse_attention_backward_args *a, const struct mask *mask, int head,
                            struct rows wanted, int64_t i)
{
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat q = mat_cols(a->q, first, dh), k = mat_cols(a->k, first, dh), v = mat_cols(a->v, first, dh);
    struct mat y = mat_cols(a->y, first, dh), dy = mat_cols(a->dy, first, dh);
    struct mat dq = mat_cols(a->dq, first, dh), dk = mat_cols(a->dk, first, dh);
    struct mat dv = mat_cols(a->dv, first, dh);
    struct rows edges = edges_of(a->adj.row, i);
    real scale = R(1 / sqrt((double)dh)), delta = dot(dy, i, y, i);

    for (int64_t e = edges.first; e < edges.end; e++) {
        int64_t j = edge_end(a->adj.col, e);
        if (!rows_has(wanted, i) && !rows_has(wanted, j))
            continue;
        real p = r_exp(less_double(edge_score(q, i, k, j), *lse_at(a->lse, i, head)));
        real dp = dropped(mask, e * a->heads + head, dot(dy, i, v, j));
        real ds = p * (dp - delta) * scale;
        if (rows_has(wanted, i))
            add_scaled(dq, i, ds, k, j);
        if (rows_has(wanted, j)) {
            add_scaled(dk, j, ds, q, i);
            add_scaled(dv, j, dropped(mask, e * a->heads + head, p), dy, i);
        }
    }
}

REF(sparse_attention_backward, 0)
{
    struct mask storage;
    const struct mask *mask = ref_mask(a->schedule, a->key, a->p, &storage);
    begin_sums(a->call, a->dq);
    begin_sums(a->call, a->dk);
    begin_sums(a->call, a->dv);
    for (int head = 0; head < a->heads; head++)
        for (int64_t i = 0; i < a->y.rows; i++)
            attend_backward(a, mask, head, rows_wanted(a->call, a->dk), i); /* dk has all rows of dq */
}
