/*
 * Backward of GATv2's attention, with p recomputed from the saved lse, for e: j -> i, per head:
 *
 *   z_e = leaky(r_i + l_j + c_e)    p_e = exp(z_e . att - lse_i)    delta_i = dy_i . (y_i - b)
 *   ds_e = p_e (dy_i . l_j - delta_i)    g_e = ds_e att * leaky'(r_i + l_j + c_e)
 *   dr_i (+)= sum of g_e    dl_j (+)= sum of p_e dy_i + g_e    dc_e (+)= g_e, of the loop dloop
 *   datt (+)= sum of ds_e z_e    db (+)= sum of dy_i
 *
 * by edge_gradients.h; the pass over receivers also computes dc, datt and db. Edges are listed as in
 * edge_loops.h.
 */
#include "kernels/cpu/edge_gradients.h"
#include "kernels/cpu/edge_loops.h"
#include "kernels/cpu/norm.h"

#include <string.h>

struct attention {
    const struct gatv2_backward_args *a;
    const float *att, *zeros; /* spread rows */
    float *sums;              /* scratch: datt and db of the receivers' tasks */
};

static const struct gatv2_backward_args *args_of(const struct edge_pass *w)
{
    return ((const struct attention *)w->of->args)->a;
}

/* The extra scratch of a thread: the listed edges, and if there is a c, other[0] + c; a task's sums for datt
 * and db. */
enum { ENDS, SUMS, DATT, DB };

/* lse and delta of a group's rows. */
static void find_softmax(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g)
{
    const struct edge_gradients *s = w->of;
    const struct gatv2_backward_args *a = args_of(w);
    const float *b = a->b.data;
    int64_t dh = s->heads.dh;
    for (int64_t k = 0, i = g->piece.row; k < g->nodes.count; k++, i++) {
        const float *dy = row_of(a->dy, i), *y = row_of(a->y, i);
        for (int64_t h = 0, c = 0; h < s->heads.heads; h++, c += dh)
            r->delta[h] = vm_dot(dh, dy + c, y + c) - vm_dot(dh, dy + c, b + c);
        edge_put_softmax(s, r, k, r->delta, i, g->piece.begins);
    }
}

/* dc of an edge, listed as number e, or dloop of a loop: ds att leaky', of the receiver's row `own`. */
static void put_edge(const struct edge_pass *w, const struct edge_back *r, const float *own,
                     const struct looped_edges *l, const struct edge_rows *rows, int64_t e)
{
    const struct gatv2_backward_args *a = args_of(w);
    int64_t dh = w->of->heads.dh, heads = w->of->heads.heads, at = l->at[e];
    struct mat to = at < 0 ? a->dloop : a->dc;
    const float *att = a->att.data, *row = rows->at + e * rows->ld;
    float *out = row_of(to, at < 0 ? l->ends[e] : at), slope = (float)a->slope;
    if (at >= 0)
        edge_fetch_row(a->dc, at + edges_ahead(2 * a->dc.cols));
    for (int64_t h = 0; h < heads; h++) {
        float ds = r->ds[e * heads + h];
#pragma omp simd
        for (int64_t k = h * dh; k < (h + 1) * dh; k++) {
            float g = ds * att[k], z = own[k] + row[k];
            out[k] = (to.acc ? out[k] : 0) + (z > 0 ? g : slope * g);
        }
    }
}

/* Zeros in dc of the group's loops, which are left out. */
static void clear_loops(const struct edge_pass *w, const struct edge_group *g)
{
    const int32_t *col = w->tasks.col + g->first;
    struct mat dc = args_of(w)->dc;
    for (int64_t k = 0, e = 0; k < g->nodes.count && mat_present(dc) && !dc.acc; k++)
        for (; e < g->nodes.begins[k + 1]; e++)
            if (col[e] == g->piece.row + k)
                memset(row_of(dc, g->first + e), 0, (size_t)dc.cols * sizeof(float));
}

/* The rows other[0] + c; in the pass over senders l + c + other[0], so that scores are rounded as in the
 * other. */
static struct edge_rows edges_added(const struct edge_pass *w, const struct edge_back *r,
                                    const struct edge_group *g, const struct edge_nodes *nodes,
                                    const struct looped_edges *l)
{
    const struct gatv2_backward_args *a = args_of(w);
    struct edge_own own = {w->sends ? row_of(a->l, g->piece.row) : NULL, a->l.ld};
    return looped_sums(&w->of->heads, l, w->other[0], a->c, a->loop, w->sends ? a->adj.out_edge.data : NULL,
                       nodes, own, r->extra[SUMS]);
}

/* A group's edges, and the rows at their ends. */
struct listed {
    struct looped_edges edges;
    struct edge_nodes nodes;
    struct edge_leaky leaky;
    struct edge_rows other[2];
};

/* Lists them, and finds their scores and products. */
static void list(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                 const struct edge_own own[2], struct listed *l)
{
    const struct attention *t = w->of->args;
    const struct gatv2_backward_args *a = t->a;
    const struct edge_heads *h = &w->of->heads;
    l->leaky = (struct edge_leaky){own[0], t->att, (float)a->slope};
    l->edges = looped_edges(h, &w->tasks, g, r->extra[ENDS], &l->nodes);
    for (int m = 0; m < 2; m++)
        l->other[m] = looped_rows(h, &l->edges, w->other[m], r->copies[m]);
    if (mat_present(a->loop))
        l->other[0] = edges_added(w, r, g, &l->nodes, &l->edges);
    if (mat_present(a->loop) && w->sends)
        l->leaky.own = (struct edge_own){t->zeros, 0};
    edge_leaky_dots(h, &l->nodes, l->leaky, &l->other[0], r->p);
    edge_dots(h, &l->nodes, own[1], &l->other[1], w->sends, r->ds);
}

static void products(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                     const struct edge_own own[2], struct edge_nodes *nodes)
{
    struct listed l;
    list(w, r, g, own, &l);
    *nodes = l.nodes;
}

/* sum[0] and sum[1] of a group's rows: of p other[1], if they send, and of ds leaky'. */
static void edges_backward(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                           const struct edge_own own[2], const struct edge_target to[2])
{
    const struct gatv2_backward_args *a = args_of(w);
    const struct edge_heads *h = &w->of->heads;
    struct listed l;
    list(w, r, g, own, &l);
    int64_t n = l.edges.count;
    if (w->sends)
        edge_gather_softmax(w, r, l.edges.ends, n, l.edges.last);
    else
        edge_spread_softmax(w, r, &l.nodes);
    if (w->sends)
        edge_find_slopes(w->of, r, n, 0, l.edges.ends, edge_any_far(n * h->heads, r->lse));
    else
        edge_find_slopes(w->of, r, n, g->piece.row, l.nodes.rows,
                         edge_rows_far(w->of, g->piece.row, g->nodes.count));
    edge_leaky_weigh(h, &l.nodes, l.leaky, r->ds, &l.other[0], to[1], r->extra[DATT]);
    if (w->sends)
        edge_weigh(h, &l.nodes, r->p, &l.other[1], false, to[0]);
    for (int64_t k = 0, e = 0; k < g->nodes.count && !w->sends && mat_present(a->loop); k++)
        for (; e < l.nodes.begins[k + 1]; e++)
            put_edge(w, r, row_of(a->r, g->piece.row + k), &l.edges, &l.other[0], e);
}

/* The outputs are sum[0] + att * sum[1]. */
static void group_backward(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                           const struct edge_own own[2], const struct edge_target to[2])
{
    const struct attention *t = w->of->args;
    const struct edge_heads *h = &w->of->heads;
    int64_t size = edge_spread_size(h);
    if (!w->sends && edge_group_opens(g)) {
        find_softmax(w, r, g);
        edge_far_deltas(w, r, g, own, products);
    }
    if (!w->sends)
        clear_loops(w, g);
    edges_backward(w, r, g, own, to);
    if (!edge_group_closes(g))
        return;
    for (float *sum = r->sum[0], *slope = r->sum[1], *end = sum + g->nodes.count * size; sum < end;)
        for (int64_t k = 0; k < size; k += LANES, sum += LANES, slope += LANES)
            store(sum, (w->sends ? load(sum) : (vec){0}) + load(t->att + k) * load(slope));
    if (g->piece.ends && !w->sends)
        add_accumulators(h->d, r->extra[DB], true, row_of(t->a->dy, g->piece.row), g->nodes.count,
                         t->a->dy.ld);
}

static void task_backward(const void *pass, int64_t t, void *back)
{
    const struct edge_pass *w = pass;
    const struct attention *g = w->of->args;
    const struct edge_heads *h = &w->of->heads;
    struct edge_back *r = back;
    memset(r->extra[DATT], 0, (size_t)edge_spread_size(h) * sizeof(float));
    memset(r->extra[DB], 0, (size_t)h->d * sizeof(float));
    edge_pass_task(w, t, r, group_backward);
    if (w->sends)
        return;
    edge_collect(h, r->extra[DATT], g->sums + 2 * h->d * t, false);
    memcpy(g->sums + (2 * t + 1) * h->d, r->extra[DB], (size_t)h->d * sizeof(float));
}

static struct edge_gradients gradients_of(const struct gatv2_backward_args *a, int64_t *bytes)
{
    int64_t d = a->y.cols;
    struct edge_gradients s = {
        .heads = edge_heads_of(d, a->heads), .y = a->y, .lse = a->lse, .keeps = true, .indirect = true};
    s.scale = 1;
    s.receive = (struct edge_pass){.tasks = edge_tasks(a->adj.row, a->adj.col),
                                   .own = {a->r, a->dy},
                                   .other = {a->l, a->l},
                                   .out = {a->dr},
                                   .width = d};
    s.send = (struct edge_pass){.tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                                .own = {a->l, a->l},
                                .other = {a->r, a->dy},
                                .out = {a->dl},
                                .width = d,
                                .sends = true};
    s.extra[ENDS] = looped_size(&s.heads);
    s.extra[SUMS] = mat_present(a->loop) ? looped_sums_size(&s.heads) : 0;
    s.extra[DATT] = edge_spread_size(&s.heads);
    s.extra[DB] = d;
    s.wanted = 2 * edge_spread_size(&s.heads) + 2 * d * s.receive.tasks.count;
    *bytes = edge_gradients_lay_out(&s, &a->call);
    return s;
}

void CPU(gatv2_backward)(const void *args)
{
    const struct gatv2_backward_args *a = args;
    int64_t bytes, d = a->y.cols;
    struct edge_gradients s = gradients_of(a, &bytes);
    int64_t spread = edge_spread_size(&s.heads);
    float *zeros = s.shared + spread, *sums = zeros + spread;
    memset(zeros, 0, (size_t)spread * sizeof(float));
    s.args = &(struct attention){a, edge_spread(&s.heads, a->att.data, s.shared), zeros, sums};
    int threads = threads_for(&a->call, (a->y.rows + a->adj.col.rows) * d, 1 << 13);
#pragma omp parallel num_threads(threads)
    {
        edge_gradients_run(&s, task_backward, products);
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < d; k += NORM_STRIP)
            norm_add_chunks(a->datt, a->db, d, k, sums, s.receive.tasks.count);
    }
}

int64_t CPU(gatv2_backward_scratch)(const void *args)
{
    int64_t bytes;
    gradients_of(args, &bytes);
    return bytes;
}
