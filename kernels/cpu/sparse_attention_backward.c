/*
 * Backward of attention over edges, with p recomputed from the saved lse as in attention_backward.c, for e: j
 * -> i, per head:
 *
 *   p_e = exp(q_i . k_j scale - lse_i)    delta_i = dy_i . y_i    ds_e = p_e (dy_i . v_j - delta_i) scale
 *   dq_i (+)= sum of ds_e k_j    dk_j (+)= sum of ds_e q_i    dv_j (+)= sum of p_e dy_i
 *
 * by edge_gradients.h. Dropout replaces dy_i . v_j, and p_e in dv, as in kernels/ref/attention.c.
 */
#include "kernels/cpu/edge_gradients.h"
#include "kernels/cpu/mask.h"
#include "kernels/dropped.h"

struct dropped {
    const struct sparse_attention_backward_args *a;
    const struct mask *mask; /* of dropout; null: none */
};

/* delta of node i, whose dy is spread, and lse. */
static void find_softmax(const struct edge_pass *w, const struct edge_back *r, const float *dy, int64_t i,
                         bool keep)
{
    const struct edge_gradients *s = w->of;
    const struct dropped *d = s->args;
    const int32_t self = 0;
    struct edge_rows y = {row_of(s->y, i), 0, &self, 0};
    if (s->heads.d < LANES)
        y = edge_copy(&s->heads, y, 1, r->copies[0]);
    edge_dots(&s->heads, dy, &y, 1, NULL, r->products, r->softmax + s->padded);
    edge_put_softmax(s, r, row_of(d->a->lse, i), i, keep);
}

/* Dropout of numbers per edge and head. */
static void drop(const struct edge_pass *w, int64_t first, int64_t n, float *x)
{
    const struct dropped *d = w->of->args;
    const int32_t *number = d->a->adj.out_edge.data;
    int64_t heads = w->of->heads.heads;
    if (d->mask && !w->sends)
        mask_in_place(*d->mask, first * heads, n * heads, x);
    for (int64_t e = 0; e < n && d->mask && w->sends; e++)
        mask_in_place(*d->mask, number[first + e] * heads, heads, x + e * heads);
}

static void edges_backward(const struct edge_pass *w, const struct edge_back *r, const float *const own[2],
                           int64_t first, int64_t n)
{
    const struct edge_heads *h = &w->of->heads;
    struct edge_rows other[2];
    for (int m = 0; m < 2; m++)
        other[m] = edge_ends(h, &w->tasks, w->other[m], first, n, r->copies[m]);
    edge_dots(h, own[0], &other[0], n, &other[0], r->products, r->p);
    edge_dots(h, own[1], &other[1], n, NULL, r->products, r->ds);
    drop(w, first, n, r->ds);
    edge_spread_softmax(w, r, w->tasks.col + first, n, w->tasks.edges - 1 - first);
    edge_slopes(n * h->heads, r->p, r->ds, r->lse, r->delta, w->of->scale);
    edge_weigh(h, r->ds, &other[0], n, &other[1], r->sum[0]);
    if (!w->sends)
        return;
    drop(w, first, n, r->p);
    edge_weigh(h, r->p, &other[1], n, NULL, r->sum[1]);
}

static void piece_backward(const struct edge_pass *w, const struct edge_back *r, struct edge_piece p,
                           const float *const own[2])
{
    int64_t most = w->of->heads.most;
    if (!w->sends)
        find_softmax(w, r, own[1], p.row, p.begins);
    for (int64_t e = p.first; e < p.end; e += most)
        edges_backward(w, r, own, e, min_of(most, p.end - e));
}

static void task_backward(const void *pass, int64_t t, void *back)
{
    edge_pass_task(pass, t, back, piece_backward);
}

static struct edge_gradients gradients_of(const struct sparse_attention_backward_args *a, int64_t *bytes)
{
    int64_t d = a->q.cols;
    struct edge_gradients s = {.heads = edge_heads_of(d, a->heads), .y = a->y};
    s.scale = (float)(1 / sqrt((double)s.heads.dh));
    s.receive = (struct edge_pass){.tasks = edge_tasks(a->adj.row, a->adj.col),
                                   .own = {a->q, a->dy},
                                   .other = {a->k, a->v},
                                   .out = {a->dq},
                                   .width = d};
    s.send = (struct edge_pass){.tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                                .own = {a->k, a->v},
                                .other = {a->q, a->dy},
                                .out = {a->dk, a->dv},
                                .width = 2 * d,
                                .sends = true};
    *bytes = edge_gradients_lay_out(&s, &a->call);
    return s;
}

static void backward(const struct sparse_attention_backward_args *a, const struct mask *mask)
{
    int64_t bytes;
    struct edge_gradients s = gradients_of(a, &bytes);
    s.args = &(struct dropped){a, mask};
    int threads = threads_for(&a->call, (a->q.rows + a->adj.col.rows) * a->q.cols, 1 << 13);
#pragma omp parallel num_threads(threads)
    edge_gradients_run(&s, task_backward);
}

void CPU(sparse_attention_backward)(const void *args)
{
    backward(args, NULL);
}

void CPU(dropout_sparse_attention_backward)(const void *args)
{
    const struct dropout_sparse_attention_backward_args *a = args;
    struct sparse_attention_backward_args plain = sparse_attention_backward_of(a);
    struct mask mask = mask_of(a->key, *(const double *)a->schedule.data, a->p);
    backward(&plain, &mask);
}

int64_t CPU(sparse_attention_backward_scratch)(const void *args)
{
    int64_t bytes;
    gradients_of(args, &bytes);
    return bytes;
}

int64_t CPU(dropout_sparse_attention_backward_scratch)(const void *args)
{
    struct sparse_attention_backward_args plain = sparse_attention_backward_of(args);
    return CPU(sparse_attention_backward_scratch)(&plain);
}
