/*
 * GATv2's attention over edges (edge_softmax.h), without the loops of the graph, but with one at each node:
 *
 *   s_e = leaky(r_i + l_j + c_e) . att    y_i = b + sum exp(s_e) l_j / sum exp(s_e)    lse_i = log sum
 * exp(s_e)
 *
 * per head, with leaky(x) = x for x > 0, otherwise slope x, and for the loop `loop` instead of c. l, r, y,
 * loop: N x D, c: E x D, att, b: 1 x D, lse: N x H.
 */
#include "kernels/cpu/edge_loops.h"
#include "kernels/cpu/edge_softmax.h"

/* In the extra scratch of a thread: the listed edges, and if there is a c, their sums l_j + c_e. */
static struct edge_rows score(const struct edge_softmax *s, struct edge_work *r, const struct edge_group *g)
{
    const struct gatv2_args *a = s->args;
    const struct edge_heads *h = &s->heads;
    struct edge_leaky leaky = {edge_spreads(h, a->r, g->piece.row, g->nodes.count, r->own), s->shared,
                               (float)a->slope};
    struct looped_edges list = looped_edges(h, &s->tasks, g, r->extra, &r->looped);
    r->nodes = &r->looped;
    struct edge_rows l = looped_rows(h, &list, a->l, r->copies[0]), keys = l;
    if (mat_present(a->loop))
        keys = looped_sums(h, &list, a->l, a->c, a->loop, NULL, NULL, (struct edge_own){NULL, 0},
                           r->extra + looped_size(h));
    edge_leaky_dots(h, r->nodes, leaky, &keys, r->scores);
    return l;
}

static void attend_task(const void *softmax, int64_t t, void *work)
{
    edge_softmax_task(softmax, t, work, score);
}

static struct edge_softmax softmax_of(const struct gatv2_args *a, int64_t *bytes)
{
    struct edge_softmax s =
        edge_softmax_of(edge_tasks(a->adj.row, a->adj.col), a->r, a->y, a->lse, a->heads, 1);
    s.args = a;
    s.bias = a->b.data;
    s.extra = looped_size(&s.heads) + (mat_present(a->loop) ? looped_sums_size(&s.heads) : 0);
    *bytes = edge_softmax_lay_out(&s, &a->call);
    return s;
}

void CPU(gatv2)(const void *args)
{
    const struct gatv2_args *a = args;
    int64_t bytes;
    struct edge_softmax s = softmax_of(a, &bytes);
    s.shared = edge_spread(&s.heads, a->att.data, s.copy);
    edge_softmax_run(&s, &a->call, attend_task);
}

int64_t CPU(gatv2_scratch)(const void *args)
{
    int64_t bytes;
    softmax_of(args, &bytes);
    return bytes;
}
