/*
 * Backward of GATv2's attention, with p recomputed from the saved lse, for e: j -> i, per head:
 *
 *   z_e = leaky(r_i + l_j + c_e)    p_e = exp(z_e . att - lse_i)    delta_i = dy_i . (y_i - b)
 *   ds_e = p_e (dy_i . l_j - delta_i)    g_e = ds_e att * leaky'(r_i + l_j + c_e)
 *   dr_i (+)= sum of g_e    dl_j (+)= sum of p_e dy_i + g_e    dc_e (+)= g_e, of the loop dloop
 *   datt (+)= sum of ds_e z_e    db (+)= sum of dy_i
 *
 * A pass over receivers computes dr, dc, datt and db, and delta for the next pass; a pass over senders
 * computes dl. Both compute the scores of a row's edges and the products dy . l: p and ds are computed twice,
 * but nothing is stored per edge and each row is written by one task. Edges are listed as in edge_loops.h.
 */
#include "kernels/cpu/edge_loops.h"
#include "kernels/cpu/norm.h"
#include "kernels/gatv2.h"

#include <omp.h>
#include <string.h>

/* Scores are of own[0] and other[0], products of own[1] and other[1]. */
struct edge_pass {
    struct edge_tasks tasks;
    struct mat own[2], other[2], out;
    const int32_t *number; /* of the edges by sender, if there is a c */
    bool sends;
    float *parts; /* scratch: D per task */
};

struct gradients {
    const struct edge_gatv2_backward_args *a;
    struct edge_heads heads;
    struct edge_pass receive, send;
    const float *att;            /* a spread row */
    float *copy;                 /* scratch: of att */
    float *softmax, *workspaces; /* scratch: lse and delta of every node, `padded` floats each; per thread */
    float *sums;                 /* scratch: datt and db of the receivers' tasks */
    int64_t padded, per_thread;  /* floats */
};

/* Scratch of a thread: spread rows and sums of the node; the rest for the current edges. */
struct workspace {
    float *own[2];
    float *slopes, *weighted; /* the sums of ds leaky' and of p other[1] */
    float *values;            /* the task's sum of ds z */
    float *softmax;           /* the node's lse and delta, if it receives */
    float *products, *p, *ds, *lse, *delta, *copies[2], *ends;
    float *edges; /* other[0] + c of the current edges, if there is a c */
};

/* Lays out a thread's scratch and returns its size in floats; `at` null: only the size. */
static int64_t lay_out(const struct gradients *s, float *at, struct workspace *r)
{
    const struct edge_heads *h = &s->heads;
    int64_t spread = edge_spread_size(h), copies = edge_copies_size(h);
    const struct edge_part parts[] = {{&r->own[0], spread},
                                      {&r->own[1], spread},
                                      {&r->slopes, spread},
                                      {&r->weighted, spread},
                                      {&r->values, spread},
                                      {&r->softmax, 2 * round_up(h->heads, 4)},
                                      {&r->p, h->units},
                                      {&r->ds, h->units},
                                      {&r->lse, h->units},
                                      {&r->delta, h->units},
                                      {&r->products, edge_products_size(h)},
                                      {&r->copies[0], copies},
                                      {&r->copies[1], copies},
                                      {&r->ends, looped_size(h)},
                                      {&r->edges, mat_present(s->a->loop) ? looped_sums_size(h) : 0}};
    return edge_lay_out(at, parts, sizeof parts / sizeof *parts);
}

static struct gradients gradients_of(const struct edge_gatv2_backward_args *a, int64_t *bytes)
{
    int64_t d = a->y.cols;
    struct gradients s = {.a = a, .heads = edge_heads_of(d, a->heads), .padded = round_up(a->heads, 4)};
    s.receive = (struct edge_pass){.tasks = edge_tasks(a->adj.row, a->adj.col),
                                   .own = {a->r, a->dy},
                                   .other = {a->l, a->l},
                                   .out = a->dr};
    s.send = (struct edge_pass){.tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                                .own = {a->l, a->l},
                                .other = {a->r, a->dy},
                                .out = a->dl,
                                .number = a->adj.out_edge.data,
                                .sends = true};
    struct workspace unused;
    s.per_thread = lay_out(&s, NULL, &unused);
    float *columns;
    const struct edge_part parts[] = {
        {&columns, edge_columns_size(&s.heads)},        {&s.copy, edge_spread_size(&s.heads)},
        {&s.softmax, 2 * s.padded * a->y.rows},         {&s.sums, 2 * d * s.receive.tasks.count},
        {&s.receive.parts, d * s.receive.tasks.count},  {&s.send.parts, d * s.send.tasks.count},
        {&s.workspaces, s.per_thread * a->call.threads}};
    *bytes = 4 * edge_lay_out(a->call.scratch, parts, sizeof parts / sizeof *parts);
    edge_find_columns(&s.heads, columns);
    return s;
}

static void clear(float *spread, const struct edge_heads *h)
{
    for (int64_t k = 0; k < edge_spread_size(h); k += LANES)
        store(spread + k, (vec){0});
}

/* lse and delta of node i. */
static float *softmax_of(const struct gradients *s, int64_t i)
{
    return s->softmax + 2 * s->padded * i;
}

/* The same of a receiver, in the workspace; also stored for the next pass if `keep`. */
static void find_softmax(const struct gradients *s, const struct workspace *r, int64_t i, bool keep)
{
    int64_t dh = s->heads.dh;
    const float *dy = row_of(s->a->dy, i), *y = row_of(s->a->y, i), *b = s->a->b.data;
    for (int64_t h = 0; h < s->heads.heads; h++) {
        r->softmax[h] = row_of(s->a->lse, i)[h];
        r->softmax[s->padded + h] = vm_dot(dh, dy + h * dh, y + h * dh) - vm_dot(dh, dy + h * dh, b + h * dh);
    }
    for (int64_t h = 0; h < 2 * s->padded && keep; h += 4)
        store4(softmax_of(s, i) + h, load4(r->softmax + h));
}

/*
 * Copies the receiver's lse and delta for each edge, laid out like the dots. Copies whole vec4s: the next
 * edge overwrites the excess.
 */
static void spread_softmax(const struct gradients *s, const struct edge_pass *w, const struct workspace *r,
                           const struct looped_edges *l)
{
    for (int64_t e = l->count; e <= l->last && w->sends; e++)
        __builtin_prefetch(softmax_of(s, l->ends[e]));
    for (int64_t e = 0; e < l->count; e++) {
        const float *from = w->sends ? softmax_of(s, l->ends[e]) : r->softmax;
        for (int64_t h = 0; h < s->heads.heads; h += 4) {
            store4(r->lse + e * s->heads.heads + h, load4(from + h));
            store4(r->delta + e * s->heads.heads + h, load4(from + s->padded + h));
        }
    }
}

/*
 * p and dp contain scores and products and become p and ds, up to the end of the last vector. Probabilities
 * are clamped to 1: huge scores may be far from lse.
 */
static void softmax(int64_t n, float *restrict p, float *restrict dp, const float *restrict lse,
                    const float *restrict delta)
{
    for (int64_t u = 0; u < n; u += LANES) {
#pragma omp simd
        for (int64_t l = u; l < u + LANES; l++) {
            float x = p[l] + (VM_LN2 - lse[l]);
            p[l] = vm_half_exp(x > VM_LN2 ? VM_LN2 : x);
            dp[l] = p[l] * (dp[l] - delta[l]);
        }
    }
}

/* dc of the listed edges, dloop of the loop: ds att leaky', of the receiver's row of r. */
static void put_edges(const struct gradients *s, const struct workspace *r, const float *own,
                      const struct looped_edges *l, struct edge_rows rows)
{
    int64_t dh = s->heads.dh, heads = s->heads.heads;
    const float *att = s->a->att.data;
    float slope = (float)s->a->slope;
    for (int64_t e = 0; e < l->count; e++) {
        int64_t at = l->at[e];
        struct mat to = at < 0 ? s->a->dloop : s->a->dc;
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
static void clear_loops(const struct gradients *s, struct edge_piece p)
{
    const int32_t *col = s->receive.tasks.col;
    for (int64_t e = p.first; e < p.end && mat_present(s->a->dc) && !s->a->dc.acc; e++)
        if (col[e] == p.row)
            memset(row_of(s->a->dc, e), 0, (size_t)s->heads.d * sizeof(float));
}

static void edges_backward(const struct gradients *s, const struct edge_pass *w, const struct workspace *r,
                           struct edge_piece p, const float *const own[2], const struct looped_edges *l)
{
    const struct edge_heads *h = &s->heads;
    int64_t n = l->count;
    struct edge_leaky leaky = {own[0], s->att, (float)s->a->slope};
    struct edge_rows other[2];
    for (int m = 0; m < 2; m++)
        other[m] = looped_rows(h, l, w->other[m], r->copies[m]);
    if (mat_present(s->a->loop))
        other[0] = looped_sums(h, l, w->other[0], s->a->c, s->a->loop, w->number, r->edges);
    edge_leaky_dots(h, leaky, &other[0], n, r->products, r->p);
    edge_dots(h, own[1], &other[1], n, w->sends ? &other[1] : NULL, r->products, r->ds);
    spread_softmax(s, w, r, l);
    softmax(n * h->heads, r->p, r->ds, r->lse, r->delta);
    edge_leaky_weigh(h, leaky, r->ds, &other[0], n, r->slopes, r->values);
    if (w->sends)
        edge_weigh(h, r->p, &other[1], n, NULL, r->weighted);
    else if (mat_present(s->a->loop))
        put_edges(s, r, row_of(s->a->r, p.row), l, other[0]);
}

/* `part`: of the task, for a piece without its row's end. */
static void piece_backward(const struct gradients *s, const struct edge_pass *w, const struct workspace *r,
                           struct edge_piece p, float *part)
{
    const struct edge_heads *h = &s->heads;
    const float *own[2];
    for (int m = 0; m < 2; m++)
        own[m] = edge_spread(h, row_of(w->own[m], p.row), r->own[m]);
    clear(r->slopes, h);
    clear(r->weighted, h);
    if (!w->sends) {
        find_softmax(s, r, p.row, p.begins);
        clear_loops(s, p);
    }
    for (struct looped_edges l = looped_begin(h, p, r->ends); looped_more(&l, &w->tasks, p, h->most);)
        edges_backward(s, w, r, p, own, &l);
    for (int64_t k = 0; k < edge_spread_size(h); k += LANES)
        store(r->weighted + k, load(r->weighted + k) + load(s->att + k) * load(r->slopes + k));
    edge_collect(h, r->weighted, p.ends ? row_of(w->out, p.row) : part, p.ends && w->out.acc);
}

INLINE void fetch_rows(const struct gradients *s, const struct edge_pass *w, int64_t i)
{
    for (int m = 0; m < 2; m++)
        edge_fetch_row(w->own[m], i);
    edge_claim_row(w->out, i);
    if (!w->sends)
        edge_fetch_row(s->a->y, i);
}

static void task_backward(const struct gradients *s, const struct edge_pass *w, int64_t t,
                          const struct workspace *r)
{
    int64_t d = s->heads.d;
    float *datt = s->sums + 2 * d * t, *db = datt + d, *part = w->parts + d * t;
    struct edge_piece next = edge_first(&w->tasks, t + 1);
    clear(r->values, &s->heads);
    for (int64_t k = 0; k < d && !w->sends; k++)
        db[k] = 0;
    for (struct edge_piece p = edge_first(&w->tasks, t); edge_before(p, next); p = edge_next(&w->tasks, p)) {
        struct edge_piece own = edge_clip(p, next);
        fetch_rows(s, w, p.row + EDGE_ROWS_AHEAD);
        piece_backward(s, w, r, own, part);
        if (own.ends && !w->sends)
            add_accumulators(d, db, true, row_of(s->a->dy, p.row), 1, 0);
    }
    if (!w->sends)
        edge_collect(&s->heads, r->values, datt, false);
}

/* Adds the earlier pieces of a hub's row, which ends in task t. */
static void join(const struct gradients *s, const struct edge_pass *w, int64_t t)
{
    int64_t before = edge_pieces_before(&w->tasks, t), d = s->heads.d;
    if (before > 0)
        add_accumulators(d, row_of(w->out, edge_first(&w->tasks, t).row), true, w->parts + (t - before) * d,
                         before, d);
}

static void run_pass(const struct gradients *s, const struct edge_pass *w, const struct workspace *r)
{
#pragma omp for schedule(static)
    for (int64_t t = 0; t < w->tasks.count; t++)
        task_backward(s, w, t, r);
#pragma omp for schedule(static) nowait
    for (int64_t t = 0; t < w->tasks.count; t++)
        join(s, w, t);
}

static void backward(const struct edge_gatv2_backward_args *a)
{
    int64_t bytes, d = a->y.cols;
    struct gradients s = gradients_of(a, &bytes);
    s.att = edge_spread(&s.heads, a->att.data, s.copy);
    int threads = threads_for(&a->call, (a->y.rows + a->adj.col.rows) * d, 1 << 13);
#pragma omp parallel num_threads(threads)
    {
        struct workspace work = {0};
        lay_out(&s, s.workspaces + omp_get_thread_num() * s.per_thread, &work);
        run_pass(&s, &s.receive, &work);
        run_pass(&s, &s.send, &work);
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < d; k += NORM_STRIP)
            norm_add_chunks(a->datt, a->db, d, k, s.sums, s.receive.tasks.count);
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
