/*
 * Multi-head attention over the edges of a graph (edge_softmax.h):
 *
 *   s_e = q_i . k_j scale    y_i = sum exp(s_e) v_j / sum exp(s_e)    lse_i = log sum exp(s_e)    e: j -> i
 *
 * with scale = (D / H)^-1/2, per head; without edges y = lse = 0. q, k, v, y: N x D, lse: N x H.
 */
#include "kernels/cpu/edge_softmax.h"
#include "kernels/dropped.h"

static bool attend(const struct edge_softmax *s, struct edge_work *r, struct edge_piece p)
{
    const struct sparse_attention_args *a = s->args;
    const struct edge_heads *h = &s->heads;
    const float *q = edge_spread(h, row_of(a->q, p.row), r->own);
    for (int64_t e = p.first; e < p.end; e += h->most) {
        int64_t n = min_of(h->most, p.end - e);
        struct edge_rows k = edge_ends(h, &s->tasks, a->k, e, n, r->copies[0]);
        struct edge_rows v = edge_ends(h, &s->tasks, a->v, e, n, r->copies[1]);
        edge_dots(h, q, &k, n, &k, r->products, r->scores);
        edge_softmax_add(s, r, e, n, e == p.first, &v);
    }
    return p.first < p.end;
}

static void attend_task(const void *softmax, int64_t t, void *work)
{
    edge_softmax_task(softmax, t, work, attend);
}

static struct edge_softmax softmax_of(const struct sparse_attention_args *a, int64_t *bytes)
{
    float scale = (float)(1 / sqrt((double)(a->q.cols / a->heads)));
    struct edge_softmax s =
        edge_softmax_of(edge_tasks(a->adj.row, a->adj.col), a->q, a->y, a->lse, a->heads, scale);
    s.args = a;
    *bytes = edge_softmax_lay_out(&s, &a->call);
    return s;
}

static void attend_all(const struct sparse_attention_args *a, const struct mask *mask)
{
    int64_t bytes;
    struct edge_softmax s = softmax_of(a, &bytes);
    s.mask = mask;
    edge_softmax_run(&s, &a->call, attend_task);
}

void CPU(sparse_attention)(const void *args)
{
    attend_all(args, NULL);
}

void CPU(dropout_sparse_attention)(const void *args)
{
    const struct dropout_sparse_attention_args *a = args;
    struct sparse_attention_args plain = sparse_attention_of(a);
    struct mask mask = mask_of(a->key, *(const double *)a->schedule.data, a->p);
    attend_all(&plain, &mask);
}

int64_t CPU(sparse_attention_scratch)(const void *args)
{
    int64_t bytes;
    softmax_of(args, &bytes);
    return bytes;
}

int64_t CPU(dropout_sparse_attention_scratch)(const void *args)
{
    struct sparse_attention_args plain = sparse_attention_of(args);
    return CPU(sparse_attention_scratch)(&plain);
}
