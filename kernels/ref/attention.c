/*
 * Multi-head attention among the nodes of each graph (Vaswani et al. 2017). Head h uses its own D / H columns
 * of q, k, v and y; for node i and all nodes j of i's graph:
 *
 *   s_ij = q_i . k_j / sqrt(D / H)    p_ij = exp(s_ij) / sum_j exp(s_ij)    y_i = sum_j p_ij v_j
 *
 * The largest score of the row is subtracted before exp, which does not change p and prevents overflow; from
 * lse_ih = log sum_j exp(s_ij) the backward recomputes p without a second pass over j.
 *
 *   delta_i = dy_i . y_i    ds_ij = p_ij (dy_i . v_j - delta_i) / sqrt(D / H)         (Dao et al. 2022)
 *   dv_j = sum_i p_ij dy_i    dq_i = sum_j ds_ij k_j    dk_j = sum_i ds_ij q_i
 *
 * With dropout, d(x) = x / (1 - p) where the pair is kept, otherwise 0 (kernels/mask.h), the sum of p
 * remains:
 *
 *   y_i = sum_j d(p_ij) v_j    ds_ij = p_ij (d(dy_i . v_j) - delta_i) / sqrt(D / H)    dv_j = sum_i d(p_ij)
 * dy_i
 *
 * Folded: the keys are other rows than the queries, and more of them come to a result. With y and lse of the
 * keys so far, a = exp(lse - lse'), lse'_i = log(exp(lse_i) + sum_j exp(s_ij)), y'_i = a y_i + sum_j
 * exp(s_ij - lse'_i) v_j. Gradients of q, k and v are those above with the last y and lse: they do not depend
 * on the order of the keys.
 *
 * Biased: s_ij = q_i . k_j / sqrt(D / H) + b_ijh, b with a row for each pair: graph after graph, each n x n
 * by rows. Its gradient is p_ij (dy_i . v_j - delta_i), which has no 1 / sqrt(D / H). A pair of bias -inf has
 * no part; a query of such pairs alone has y = 0 and lse = -inf, and no gradients: sums and lse are bounded
 * from below, so that 0 / 0 and -inf + inf do not occur.
 *
 * Masked: exp(s_ij) is multiplied by the weight m_j of key j, mostly 1 or 0, wherever it occurs. Keys of
 * weight 0 are computed like the others, but their scores have no part in the largest one.
 */
#include "kernels/ref/dropped.h"

#include <float.h>

/* p, times the weight of key j if there are weights: 0 for 0, also if p overflows. */
static real weighted(struct mat weight, int64_t j, real p)
{
    return mat_present(weight) ? r_choose(AT(weight, j, 0), p * AT(weight, j, 0), R(0)) : p;
}

static double score_scale(int64_t width, int heads)
{
    return 1 / sqrt((double)(width / heads));
}

/* q_i . k_j / sqrt(D / H), and the bias of the pair if there is one. */
static real score(struct mat q, int64_t i, struct mat k, int64_t j, real scale, struct mat bias, int64_t pair,
                  int head)
{
    real s = dot(q, i, k, j) * scale;
    return mat_present(bias) ? s + AT(bias, pair, head) : s;
}

/* Query i of one head against keys; q, k, v and y are the head's columns. Its pairs are `first_pair` and
 * after of a head.
 */
static void attend(const struct attention_args *a, const struct mask *mask, int head, struct rows keys,
                   int64_t first_pair, int64_t i)
{
    int64_t pair = head * a->graphs.pairs + first_pair; /* of the mask */
    bool folds = mat_present(a->from);
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat q = mat_cols(a->q, first, dh), k = mat_cols(a->k, first, dh);
    struct mat v = mat_cols(a->v, first, dh), y = mat_cols(a->y, first, dh);
    struct mat from = folds ? mat_cols(a->from, first, dh) : y;
    struct mat s = scratch_row(a->call, 0, keys.end - keys.first);
    real scale = R(score_scale(a->y.cols, a->heads));

    for (int64_t j = keys.first; j < keys.end; j++)
        AT(s, 0, j - keys.first) = score(q, i, k, j, scale, a->bias, first_pair + j - keys.first, head);
    real top = R(mat_present(a->bias) ? -FLT_MAX : -INFINITY);
    top = folds ? r_max(R(*lse_at(a->from_lse, i, head)), top) : top;
    for (int64_t j = keys.first; j < keys.end; j++) {
        real its = AT(s, 0, j - keys.first);
        top = r_max(top, mat_present(a->m) ? r_choose(AT(a->m, j, 0), its, top) : its);
    }

    real sum = folds ? r_exp(-less_double(top, *lse_at(a->from_lse, i, head))) : R(0);
    for (int64_t c = 0; c < dh; c++)
        AT(y, i, c) = folds ? AT(from, i, c) * sum : R(0);
    for (int64_t j = keys.first; j < keys.end; j++) {
        real p = weighted(a->m, j, r_exp(AT(s, 0, j - keys.first) - top));
        sum += p;
        add_scaled(y, i, dropped(mask, pair + j - keys.first, p), v, j);
    }
    for (int64_t c = 0; c < dh; c++)
        AT(y, i, c) = AT(y, i, c) / r_max(sum, R(FLT_MIN));
    if (mat_present(a->lse))
        put_sum(a->lse, i, head, top, r_log(sum));
}

/* The rows of keys of graph g. */
static struct rows key_rows(struct offsets graphs, struct offsets keys, int64_t g)
{
    return graph_rows(mat_present(keys.at) ? keys : graphs, g);
}

REF(attention, a->k.rows)
{
    struct mask storage;
    const struct mask *mask = ref_mask(a->schedule, a->key, a->p, &storage);
    int64_t before = 0;
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows graph = graph_rows(a->graphs, g), keys = key_rows(a->graphs, a->keys, g);
        struct rows wanted = rows_common(graph, rows_wanted(a->call, a->y));
        int64_t n = keys.end - keys.first;
        for (int head = 0; head < a->heads; head++)
            for (int64_t i = wanted.first; i < wanted.end; i++)
                attend(a, mask, head, keys, before + (i - graph.first) * n, i);
        before += (graph.end - graph.first) * n;
    }
}

/* Pairs of query i and keys, in one head; only those that contribute to a requested row of dq, of dk and dv,
 * or of dbias.
 */
static void attend_backward(const struct attention_backward_args *a, const struct mask *mask, int head,
                            struct rows keys, struct rows wanted, int64_t first_pair, int64_t i)
{
    int64_t n = keys.end - keys.first, masked = head * a->graphs.pairs; /* the first pair of the mask */
    struct rows pairs = {first_pair, first_pair + n};
    struct rows biases = rows_common(pairs, rows_wanted(a->call, a->dbias));
    int64_t dh = a->y.cols / a->heads, first = head * dh;
    struct mat q = mat_cols(a->q, first, dh), k = mat_cols(a->k, first, dh), v = mat_cols(a->v, first, dh);
    struct mat y = mat_cols(a->y, first, dh), dy = mat_cols(a->dy, first, dh);
    struct mat dq = mat_cols(a->dq, first, dh), dk = mat_cols(a->dk, first, dh);
    struct mat dv = mat_cols(a->dv, first, dh);
    struct rows queries = rows_wanted(a->call, a->dq);
    real scale = R(score_scale(a->y.cols, a->heads));
    real delta = dot(dy, i, y, i);
    double saved = *lse_at(a->lse, i, head), lse = saved < -FLT_MAX ? -FLT_MAX : saved;
    struct rows partners = rows_has(queries, i) || rows_any(biases) ? keys : wanted;

    for (int64_t j = partners.first; j < partners.end; j++) {
        int64_t pair = first_pair + j - keys.first;
        real s = score(q, i, k, j, scale, a->bias, pair, head);
        real p = weighted(a->m, j, r_exp(less_double(s, lse)));
        real dp = dropped(mask, masked + pair, dot(dy, i, v, j));
        real dscore = p * (dp - delta), ds = dscore * scale;
        if (rows_has(biases, pair))
            put(a->dbias, pair, head, dscore);
        if (rows_has(queries, i))
            add_scaled(dq, i, ds, k, j);
        if (rows_has(wanted, j)) {
            add_scaled(dk, j, ds, q, i);
            add_scaled(dv, j, dropped(mask, masked + pair, p), dy, i);
        }
    }
}

static void begin_gradients(const struct attention_backward_args *a)
{
    begin_sums(a->call, a->dq);
    begin_sums(a->call, a->dk);
    begin_sums(a->call, a->dv);
}

REF(attention_backward, 0)
{
    struct mask storage;
    const struct mask *mask = ref_mask(a->schedule, a->key, a->p, &storage);
    int64_t before = 0;
    begin_gradients(a);
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows graph = graph_rows(a->graphs, g), keys = key_rows(a->graphs, a->keys, g);
        struct rows wanted = rows_common(keys, rows_wanted(a->call, a->dk));
        int64_t n = keys.end - keys.first;
        for (int head = 0; head < a->heads; head++)
            for (int64_t i = graph.first; i < graph.end; i++)
                attend_backward(a, mask, head, keys, wanted, before + (i - graph.first) * n, i);
        before += (graph.end - graph.first) * n;
    }
}
