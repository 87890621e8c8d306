/*
 * Multi-head attention over the edges of a graph (edge_softmax.h):
 *
 *   s_e = q_i . k_j scale    y_i = sum exp(s_e) v_j / sum exp(s_e)    lse_i = log sum exp(s_e)    e: j -> i
 *
 * with scale = (D / H)^-1/2, per head; without edges y = lse = 0. q, k, v, y: N x D, lse: N x H.
 *
 * With rows c of the edges k_j is replaced by k_j c_e, scores are clamped, and sums begin at eps.
 */
#include "kernels/cpu/edge_factors.h"
#include "kernels/cpu/edge_softmax.h"
#include "kernels/mask.h"

static float scale_of(const struct sparse_attention_args *a)
{
    return (float)(1 / sqrt((double)(a->q.cols / a->heads)));
}

static struct edge_rows score(const struct edge_softmax *s, struct edge_work *r, const struct edge_group *g)
{
    const struct sparse_attention_args *a = s->args;
    const struct edge_heads *h = &s->heads;
    int64_t n = g->end - g->first;
    struct edge_own q = edge_spreads(h, a->q, g->piece.row, g->nodes.count, r->own);
    struct edge_rows k = edge_ends(h, &s->tasks, a->k, g->first, n, r->copies[0]);
    bool factors = mat_present(a->c);
    if (factors)
        edge_factors(h, &s->tasks, a->c, NULL, g->first, n, r->extra, &k);
    r->nodes = &g->nodes;
    edge_dots(h, &g->nodes, q, &k, !factors, r->scores);
    if (factors)
        edge_clamp(n * h->heads, r->scores, scale_of(a), (float)a->clamp, NULL);
    return edge_ends(h, &s->tasks, a->v, g->first, n, r->copies[1]);
}

static void attend_task(const void *softmax, int64_t t, void *work)
{
    edge_softmax_task(softmax, t, work, score);
}

static struct edge_softmax softmax_of(const struct sparse_attention_args *a, int64_t *bytes)
{
    struct edge_softmax s =
        edge_softmax_of(edge_tasks(a->adj.row, a->adj.col), a->q, a->y, a->lse, a->heads, scale_of(a));
    s.args = a;
    if (mat_present(a->c)) {
        s.scale = 1; /* `score` scales, before it clamps */
        s.eps = (float)a->eps;
        s.extra = edge_factors_size(&s.heads);
    }
    *bytes = edge_softmax_lay_out(&s, &a->call);
    return s;
}

void CPU(sparse_attention)(const void *args)
{
    const struct sparse_attention_args *a = args;
    int64_t bytes;
    struct mask mask;
    struct edge_softmax s = softmax_of(a, &bytes);
    s.mask = mask_given(a->schedule, a->key, a->p, &mask);
    edge_softmax_run(&s, &a->call, attend_task);
}

int64_t CPU(sparse_attention_scratch)(const void *args)
{
    int64_t bytes;
    softmax_of(args, &bytes);
    return bytes;
}
