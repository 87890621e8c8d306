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
#include "kernels/gatv2.h"

#include <string.h>

struct attention {
    const struct edge_gatv2_backward_args *a;
    const float *att; /* a spread row */
    float *sums;      /* scratch: datt and db of the receivers' tasks */
};

static const struct edge_gatv2_backward_args *args_of(const struct edge_pass *w)
{
    return ((const struct attention *)w->of->args)->a;
}

/* The extra scratch of a thread: the listed edges, and if there is a c, other[0] + c; a task's sums for datt
 * and db. */
enum { ENDS, SUMS, DATT, DB };

/* lse and delta of receiver i. */
static void find_softmax(const struct edge_pass *w, const struct edge_back *r, int64_t i, bool keep)
{
    const struct edge_gradients *s = w->of;
    const struct edge_gatv2_backward_args *a = args_of(w);
    int64_t dh = s->heads.dh;
    const float *dy = row_of(a->dy, i), *y = row_of(a->y, i), *b = a->b.data;
    for (int64_t h = 0; h < s->heads.heads; h++)
        r->softmax[s->padded + h] = vm_dot(dh, dy + h * dh, y + h * dh) - vm_dot(dh, dy + h * dh, b + h * dh);
    edge_put_softmax(s, r, row_of(a->lse, i), i, keep);
}

/* dc of the listed edges, dloop of the loop: ds att leaky', of the receiver's row of r. */
static void put_edges(const struct edge_pass *w, const struct edge_back *r, const float *own,
                      const struct looped_edges *l, struct edge_rows rows)
{
    const struct edge_gatv2_backward_args *a = args_of(w);
    int64_t dh = w->of->heads.dh, heads = w->of->heads.heads;
    const float *att = a->att.data;
    float slope = (float)a->slope;
    for (int64_t e = 0; e < l->count; e++) {
        int64_t at = l->at[e];
        struct mat to = at < 0 ? a->dloop : a->dc;
        float *out = row_of(to, at < 0 ? l->ends[e] : at);
        for (int64_t h = 0; h < heads; h++) {
            float ds = r->ds[e * heads + h];
#pragma omp simd
            for (int64_t k = h * dh; k < (h + 1) * dh; k++) {
                float g = ds * att[k], z = own[k] + rows.at[e * rows.ld + k];
                out[k] = (to.acc ? out[k] : 0) + (z > 0 ? g : slope * g);
            }
        }
    }
}

/* Zeros in dc of the piece's loops, which are left out. */
static void clear_loops(const struct edge_pass *w, struct edge_piece p)
{
    const int32_t *col = w->tasks.col;
    struct mat dc = args_of(w)->dc;
    for (int64_t e = p.first; e < p.end && mat_present(dc) && !dc.acc; e++)
        if (col[e] == p.row)
            memset(row_of(dc, e), 0, (size_t)dc.cols * sizeof(float));
}

static void edges_backward(const struct edge_pass *w, const struct edge_back *r, struct edge_leaky leaky,
                           const float *dy, int64_t row, const struct looped_edges *l)
{
    const struct edge_gatv2_backward_args *a = args_of(w);
    const struct edge_heads *h = &w->of->heads;
    int64_t n = l->count;
    struct edge_rows other[2];
    for (int m = 0; m < 2; m++)
        other[m] = looped_rows(h, l, w->other[m], r->copies[m]);
    if (mat_present(a->loop))
        other[0] = looped_sums(h, l, w->other[0], a->c, a->loop, w->sends ? a->adj.out_edge.data : NULL,
                               r->extra[SUMS]);
    edge_leaky_dots(h, leaky, &other[0], n, r->products, r->p);
    edge_dots(h, dy, &other[1], n, w->sends ? &other[1] : NULL, r->products, r->ds);
    edge_spread_softmax(w, r, l->ends, n, l->last);
    edge_slopes(n * h->heads, r->p, r->ds, r->lse, r->delta, 1);
    edge_leaky_weigh(h, leaky, r->ds, &other[0], n, r->sum[1], r->extra[DATT]);
    if (w->sends)
        edge_weigh(h, r->p, &other[1], n, NULL, r->sum[0]);
    else if (mat_present(a->loop))
        put_edges(w, r, row_of(a->r, row), l, other[0]);
}

/* sum[0] and sum[1]: of p other[1], and of ds leaky'; the output is sum[0] + att * sum[1]. */
static void piece_backward(const struct edge_pass *w, const struct edge_back *r, struct edge_piece p,
                           const float *const own[2])
{
    const struct attention *g = w->of->args;
    const struct edge_heads *h = &w->of->heads;
    struct edge_leaky leaky = {own[0], g->att, (float)g->a->slope};
    if (!w->sends) {
        find_softmax(w, r, p.row, p.begins);
        clear_loops(w, p);
    }
    for (struct looped_edges l = looped_begin(h, p, r->extra[ENDS]); looped_more(&l, &w->tasks, p, h->most);)
        edges_backward(w, r, leaky, own[1], p.row, &l);
    for (int64_t k = 0; k < edge_spread_size(h); k += LANES)
        store(r->sum[0] + k, load(r->sum[0] + k) + load(g->att + k) * load(r->sum[1] + k));
    if (p.ends && !w->sends)
        add_accumulators(h->d, r->extra[DB], true, row_of(g->a->dy, p.row), 1, 0);
}

static void task_backward(const void *pass, int64_t t, void *back)
{
    const struct edge_pass *w = pass;
    const struct attention *g = w->of->args;
    const struct edge_heads *h = &w->of->heads;
    const struct edge_back *r = back;
    edge_clear(h, r->extra[DATT]);
    memset(r->extra[DB], 0, (size_t)h->d * sizeof(float));
    edge_pass_task(w, t, r, piece_backward);
    if (w->sends)
        return;
    edge_collect(h, r->extra[DATT], g->sums + 2 * h->d * t, false);
    memcpy(g->sums + (2 * t + 1) * h->d, r->extra[DB], (size_t)h->d * sizeof(float));
}

static struct edge_gradients gradients_of(const struct edge_gatv2_backward_args *a, int64_t *bytes)
{
    int64_t d = a->y.cols;
    struct edge_gradients s = {.heads = edge_heads_of(d, a->heads), .y = a->y, .keeps = true};
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
    s.wanted = edge_spread_size(&s.heads) + 2 * d * s.receive.tasks.count;
    *bytes = edge_gradients_lay_out(&s, &a->call);
    return s;
}

static void backward(const struct edge_gatv2_backward_args *a)
{
    int64_t bytes, d = a->y.cols;
    struct edge_gradients s = gradients_of(a, &bytes);
    float *sums = s.shared + edge_spread_size(&s.heads);
    s.args = &(struct attention){a, edge_spread(&s.heads, a->att.data, s.shared), sums};
    int threads = threads_for(&a->call, (a->y.rows + a->adj.col.rows) * d, 1 << 13);
#pragma omp parallel num_threads(threads)
    {
        edge_gradients_run(&s, task_backward);
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < d; k += NORM_STRIP)
            norm_add_chunks(a->datt, a->db, d, k, sums, s.receive.tasks.count);
    }
}

void CPU(gatv2_backward)(const void *args)
{
    struct edge_gatv2_backward_args with = edge_gatv2_backward_of(args);
    backward(&with);
}

void CPU(edge_gatv2_backward)(const void *args)
{
    backward(args);
}

int64_t CPU(gatv2_backward_scratch)(const void *args)
{
    struct edge_gatv2_backward_args with = edge_gatv2_backward_of(args);
    return CPU(edge_gatv2_backward_scratch)(&with);
}

int64_t CPU(edge_gatv2_backward_scratch)(const void *args)
{
    int64_t bytes;
    gradients_of(args, &bytes);
    return bytes;
}
