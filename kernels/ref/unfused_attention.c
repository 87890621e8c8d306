/*
 * Attention (attention.c) in three steps that store their results, as an eager framework runs it: scores,
 * their softmax, and the product with the values. Row h of s and p holds the pairs of head h: graph after
 * graph, each an n x n block with a row per query.
 *
 *   s_ij = q_i . k_j / sqrt(D / H)           dq_i = sum_j ds_ij k_j / sqrt(D / H)
 *                                            dk_j = sum_i ds_ij q_i / sqrt(D / H)
 *   p_ij = exp(s_ij) / sum_j exp(s_ij)       ds_ij = p_ij (dp_ij - sum_j dp_ij p_ij)
 *   y_i = sum_j p_ij v_j                     dp_ij = dy_i . v_j    dv_j = sum_i p_ij dy_i
 *
 * Rows of s, p and their gradients are heads; rows of the other matrices are nodes.
 */
#include "kernels/ref/loops.h"

/* Query i of a graph: its keys are graph.first .. graph.end - 1, and begin at column `pairs` of s and p. */
struct query {
    struct rows graph;
    int64_t i, pairs;
};

typedef void query_function(const void *args, int head, struct query q);

static void each_query(const void *args, struct offsets graphs, struct rows heads, query_function *visit)
{
    int64_t pairs = 0;
    for (int64_t g = 0; g < graph_count(graphs); g++) {
        struct rows graph = graph_rows(graphs, g);
        int64_t n = graph.end - graph.first;
        for (int64_t head = heads.first; head < heads.end; head++)
            for (int64_t i = graph.first; i < graph.end; i++) {
                struct query q = {graph, i, pairs + (i - graph.first) * n};
                visit(args, (int)head, q);
            }
        pairs += n * n;
    }
}

static struct rows all_heads(int heads)
{
    struct rows all = {0, heads};
    return all;
}

static struct mat head_of(struct mat m, int heads, int head)
{
    int64_t dh = m.cols / heads;
    return mat_cols(m, head * dh, dh);
}

static void score(const void *args, int head, struct query at)
{
    const struct attention_scores_args *a = (const struct attention_scores_args *)args;
    struct mat q = head_of(a->q, a->heads, head), k = head_of(a->k, a->heads, head);
    for (int64_t j = at.graph.first; j < at.graph.end; j++)
        AT(a->s, head, at.pairs + j - at.graph.first) = dot(q, at.i, k, j) * R(1 / sqrt((double)q.cols));
}

REF(attention_scores, 0)
{
    each_query(a, a->graphs, rows_wanted(a->call, a->s), score);
}

static void score_backward(const void *args, int head, struct query at)
{
    const struct attention_scores_backward_args *a = (const struct attention_scores_backward_args *)args;
    struct mat q = head_of(a->q, a->heads, head), k = head_of(a->k, a->heads, head);
    struct mat dq = head_of(a->dq, a->heads, head), dk = head_of(a->dk, a->heads, head);
    struct rows dq_rows = rows_wanted(a->call, a->dq), dk_rows = rows_wanted(a->call, a->dk);
    for (int64_t j = at.graph.first; j < at.graph.end; j++) {
        if (!rows_has(dq_rows, at.i) && !rows_has(dk_rows, j))
            continue;
        real ds = AT(a->ds, head, at.pairs + j - at.graph.first) * R(1 / sqrt((double)q.cols));
        if (rows_has(dq_rows, at.i))
            add_scaled(dq, at.i, ds, k, j);
        if (rows_has(dk_rows, j))
            add_scaled(dk, j, ds, q, at.i);
    }
}

REF(attention_scores_backward, 0)
{
    begin_sums(a->call, a->dq);
    begin_sums(a->call, a->dk);
    each_query(a, a->graphs, all_heads(a->heads), score_backward);
}

static void softmax(const void *args, int head, struct query at)
{
    const struct attention_softmax_args *a = (const struct attention_softmax_args *)args;
    int64_t end = at.pairs + at.graph.end - at.graph.first;
    real top = AT(a->s, head, at.pairs), sum = R(0);
    for (int64_t c = at.pairs; c < end; c++)
        top = r_max(top, AT(a->s, head, c));
    for (int64_t c = at.pairs; c < end; c++) {
        AT(a->p, head, c) = r_exp(AT(a->s, head, c) - top);
        sum += AT(a->p, head, c);
    }
    for (int64_t c = at.pairs; c < end; c++)
        AT(a->p, head, c) = AT(a->p, head, c) / sum;
}

REF(attention_softmax, 0)
{
    each_query(a, a->graphs, rows_wanted(a->call, a->p), softmax);
}

static void softmax_backward(const void *args, int head, struct query at)
{
    const struct attention_softmax_backward_args *a = (const struct attention_softmax_backward_args *)args;
    int64_t end = at.pairs + at.graph.end - at.graph.first;
    real delta = R(0);
    for (int64_t c = at.pairs; c < end; c++)
        delta += AT(a->dp, head, c) * AT(a->p, head, c);
    for (int64_t c = at.pairs; c < end; c++)
        put(a->ds, head, c, AT(a->p, head, c) * (AT(a->dp, head, c) - delta));
}

REF(attention_softmax_backward, 0)
{
    each_query(a, a->graphs, rows_wanted(a->call, a->ds), softmax_backward);
}

static void weigh(const void *args, int head, struct query at)
{
    const struct attention_values_args *a = (const struct attention_values_args *)args;
    struct mat y = head_of(a->y, a->heads, head), v = head_of(a->v, a->heads, head);
    if (!rows_has(rows_wanted(a->call, a->y), at.i))
        return;
    for (int64_t c = 0; c < y.cols; c++)
        AT(y, at.i, c) = R(0);
    for (int64_t j = at.graph.first; j < at.graph.end; j++)
        add_scaled(y, at.i, AT(a->p, head, at.pairs + j - at.graph.first), v, j);
}

REF(attention_values, 0)
{
    each_query(a, a->graphs, all_heads(a->heads), weigh);
}

static void weigh_backward(const void *args, int head, struct query at)
{
    const struct attention_values_backward_args *a = (const struct attention_values_backward_args *)args;
    struct mat dy = head_of(a->dy, a->heads, head), v = head_of(a->v, a->heads, head);
    struct mat dv = head_of(a->dv, a->heads, head);
    struct rows dp_rows = rows_wanted(a->call, a->dp), dv_rows = rows_wanted(a->call, a->dv);
    for (int64_t j = at.graph.first; j < at.graph.end; j++) {
        int64_t pair = at.pairs + j - at.graph.first;
        for (int64_t c = 0; c < v.cols && rows_has(dp_rows, head); c++)
            AT(a->dp, head, pair) += AT(dy, at.i, c) * AT(v, j, c);
        if (rows_has(dv_rows, j))
            add_scaled(dv, j, AT(a->p, head, pair), dy, at.i);
    }
}

REF(attention_values_backward, 0)
{
    begin_sums(a->call, a->dp);
    begin_sums(a->call, a->dv);
    each_query(a, a->graphs, all_heads(a->heads), weigh_backward);
}
