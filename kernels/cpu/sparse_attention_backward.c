/*
 * Backward of attention over edges, with p recomputed from the saved lse as in attention_backward.c, for e: j
 * -> i, per head:
 *
 *   p_e = exp(q_i . k_j scale - lse_i)    delta_i = dy_i . y_i    ds_e = p_e (dy_i . v_j - delta_i) scale
 *   dq_i (+)= sum of ds_e k_j    dk_j (+)= sum of ds_e q_i    dv_j (+)= sum of p_e dy_i
 *
 * A pass over receivers computes dq, and delta for the next pass; a pass over senders computes dk and dv.
 * Both compute a row's two products with the rows at the other ends of its edges, and sums of those rows: p
 * and ds are computed twice, but nothing is stored per edge and each gradient is written by one task. Dropout
 * replaces dy_i . v_j, and p_e in dv, as in kernels/ref/attention.c.
 */
#include "kernels/cpu/edge_heads.h"
#include "kernels/cpu/mask.h"
#include "kernels/cpu/tasks.h"
#include "kernels/dropped.h"

#include <math.h>
#include <string.h>

/*
 * p uses own[0] and other[0], dy . v uses own[1] and other[1]; out[0] (+)= sum of ds other[0], and if present
 * out[1] (+)= sum of p other[1].
 */
struct edge_pass {
    struct edge_tasks tasks;
    struct mat own[2], other[2], out[2];
    bool sends;
    float *parts;  /* scratch: one part per task */
    int64_t width; /* floats per part: D per output */
};

struct gradients {
    const struct sparse_attention_backward_args *a;
    struct edge_heads heads;
    const struct mask *mask; /* of dropout; null: none */
    struct edge_pass receive, send;
    float scale;
    float *softmax, *workspaces; /* scratch: lse and delta of every node, `padded` floats each; per thread */
    int64_t padded, per_thread;  /* floats */
    struct task_queue *queues;
};

/* Scratch of a thread: spread rows and sums of the node; the rest for the current edges. */
struct workspace {
    float *own[2], *sum[2];
    float *softmax; /* the node's lse and delta, if it receives */
    float *products, *p, *ds, *lse, *delta, *copies[2];
};

/* Lays out a thread's scratch and returns its size in floats; `at` null: only the size. */
static int64_t lay_out(const struct edge_heads *h, float *at, struct workspace *r)
{
    int64_t spread = edge_spread_size(h), copies = edge_copies_size(h);
    const struct edge_part parts[] = {{&r->own[0], spread},
                                      {&r->own[1], spread},
                                      {&r->sum[0], spread},
                                      {&r->sum[1], spread},
                                      {&r->softmax, 2 * round_up(h->heads, 4)},
                                      {&r->p, h->units},
                                      {&r->ds, h->units},
                                      {&r->lse, h->units},
                                      {&r->delta, h->units},
                                      {&r->products, edge_products_size(h)},
                                      {&r->copies[0], copies},
                                      {&r->copies[1], copies}};
    return edge_lay_out(at, parts, sizeof parts / sizeof *parts);
}

static struct gradients gradients_of(const struct sparse_attention_backward_args *a, int64_t *bytes)
{
    int64_t d = a->q.cols;
    struct gradients s = {.a = a, .heads = edge_heads_of(d, a->heads), .padded = round_up(a->heads, 4)};
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
    struct workspace unused;
    s.per_thread = lay_out(&s.heads, NULL, &unused);
    float *columns, *queues;
    const struct edge_part parts[] = {{&columns, edge_columns_size(&s.heads)},
                                      {&queues, task_queues_size(a->call.threads)},
                                      {&s.softmax, 2 * s.padded * a->q.rows},
                                      {&s.receive.parts, s.receive.tasks.count * s.receive.width},
                                      {&s.send.parts, s.send.tasks.count * s.send.width},
                                      {&s.workspaces, s.per_thread * a->call.threads}};
    *bytes = 4 * edge_lay_out(a->call.scratch, parts, sizeof parts / sizeof *parts);
    edge_find_columns(&s.heads, columns);
    s.queues = (struct task_queue *)(void *)queues;
    return s;
}

/* lse and delta of node i. */
static float *softmax_of(const struct gradients *s, int64_t i)
{
    return s->softmax + 2 * s->padded * i;
}

/* The same for node i, whose dy is spread, in the workspace; also stored for the next pass if `keep`. */
static void find_softmax(const struct gradients *s, const struct workspace *r, const float *dy, int64_t i,
                         bool keep)
{
    const int32_t self = 0;
    struct edge_rows y = {row_of(s->a->y, i), 0, &self, 0};
    if (s->heads.d < LANES)
        y = edge_copy(&s->heads, y, 1, r->copies[0]);
    edge_dots(&s->heads, dy, &y, 1, NULL, r->products, r->softmax + s->padded);
    for (int64_t h = 0; h < s->heads.heads; h++)
        r->softmax[h] = row_of(s->a->lse, i)[h];
    for (int64_t h = 0; h < 2 * s->padded && keep; h += 4)
        store4(softmax_of(s, i) + h, load4(r->softmax + h));
}

/*
 * Copies the receiver's lse and delta for each edge, laid out like the dots. Copies whole vec4s: the next
 * edge overwrites the excess.
 */
static void spread_softmax(const struct gradients *s, const struct edge_pass *w, const struct workspace *r,
                           int64_t first, int64_t n)
{
    for (int64_t e = 0; e < n && w->sends; e++)
        __builtin_prefetch(softmax_of(s, w->tasks.col[min_of(first + n + e, w->tasks.edges - 1)]));
    for (int64_t e = 0; e < n; e++) {
        const float *from = w->sends ? softmax_of(s, w->tasks.col[first + e]) : r->softmax;
        for (int64_t h = 0; h < s->heads.heads; h += 4) {
            store4(r->lse + e * s->heads.heads + h, load4(from + h));
            store4(r->delta + e * s->heads.heads + h, load4(from + s->padded + h));
        }
    }
}

/*
 * p and dp contain the dots and become p and ds, up to the end of the last vector. Probabilities are clamped
 * to 1: huge scores are rounded differently than in the forward and may be far from lse.
 */
static void softmax(int64_t n, float *restrict p, float *restrict dp, const float *restrict lse,
                    const float *restrict delta, float scale)
{
    for (int64_t u = 0; u < n; u += LANES) {
#pragma omp simd
        for (int64_t l = u; l < u + LANES; l++) {
            float x = p[l] * scale + (VM_LN2 - lse[l]);
            p[l] = vm_half_exp(x > VM_LN2 ? VM_LN2 : x);
            dp[l] = p[l] * (dp[l] - delta[l]) * scale;
        }
    }
}

/* Dropout of numbers per edge and head. */
static void drop(const struct gradients *s, const struct edge_pass *w, int64_t first, int64_t n, float *x)
{
    const int32_t *number = s->a->adj.out_edge.data;
    int64_t heads = s->heads.heads;
    if (s->mask && !w->sends)
        mask_in_place(*s->mask, first * heads, n * heads, x);
    for (int64_t e = 0; e < n && s->mask && w->sends; e++)
        mask_in_place(*s->mask, number[first + e] * heads, heads, x + e * heads);
}

static void edges_backward(const struct gradients *s, const struct edge_pass *w, const struct workspace *r,
                           const float *const own[2], int64_t first, int64_t n)
{
    const struct edge_heads *h = &s->heads;
    struct edge_rows other[2];
    for (int m = 0; m < 2; m++)
        other[m] = edge_ends(h, &w->tasks, w->other[m], first, n, r->copies[m]);
    edge_dots(h, own[0], &other[0], n, &other[0], r->products, r->p);
    edge_dots(h, own[1], &other[1], n, NULL, r->products, r->ds);
    drop(s, w, first, n, r->ds);
    spread_softmax(s, w, r, first, n);
    softmax(n * h->heads, r->p, r->ds, r->lse, r->delta, s->scale);
    edge_weigh(h, r->ds, &other[0], n, &other[1], r->sum[0]);
    if (!w->sends)
        return;
    drop(s, w, first, n, r->p);
    edge_weigh(h, r->p, &other[1], n, NULL, r->sum[1]);
}

static void piece_backward(const struct gradients *s, const struct edge_pass *w, const struct workspace *r,
                           struct edge_piece p, float *part)
{
    const struct edge_heads *h = &s->heads;
    const float *own[2];
    for (int m = 0; m < 2; m++) {
        own[m] = edge_spread(h, row_of(w->own[m], p.row), r->own[m]);
        for (int64_t k = 0; k < edge_spread_size(h); k += LANES)
            store(r->sum[m] + k, (vec){0});
    }
    if (!w->sends)
        find_softmax(s, r, own[1], p.row, p.begins);
    for (int64_t e = p.first; e < p.end; e += h->most)
        edges_backward(s, w, r, own, e, min_of(h->most, p.end - e));
    for (int m = 0; m <= w->sends; m++) {
        float *to = p.ends ? row_of(w->out[m], p.row) : part + m * h->d;
        edge_collect(h, r->sum[m], to, p.ends && w->out[m].acc);
    }
}

INLINE void fetch_rows(const struct gradients *s, const struct edge_pass *w, int64_t i)
{
    for (int m = 0; m < 2; m++)
        edge_fetch_row(w->own[m], i);
    for (int m = 0; m <= w->sends; m++)
        edge_claim_row(w->out[m], i);
    if (!w->sends)
        edge_fetch_row(s->a->y, i);
}

static void task_backward(const struct gradients *s, const struct edge_pass *w, int64_t t,
                          const struct workspace *r)
{
    struct edge_piece next = edge_first(&w->tasks, t + 1);
    for (struct edge_piece p = edge_first(&w->tasks, t); edge_before(p, next); p = edge_next(&w->tasks, p)) {
        fetch_rows(s, w, p.row + EDGE_ROWS_AHEAD);
        piece_backward(s, w, r, edge_clip(p, next), w->parts + t * w->width);
    }
}

/* Adds the earlier pieces of a hub's row, which ends in task t. */
static void join(const struct gradients *s, const struct edge_pass *w, int64_t t)
{
    int64_t before = edge_pieces_before(&w->tasks, t), i = edge_first(&w->tasks, t).row;
    for (int m = 0; m <= w->sends && before > 0; m++)
        add_accumulators(s->heads.d, row_of(w->out[m], i), true,
                         w->parts + (t - before) * w->width + m * s->heads.d, before, w->width);
}

static void run_pass(const struct gradients *s, const struct edge_pass *w, const struct workspace *r)
{
    tasks_begin(s->queues, w->tasks.count);
#pragma omp barrier
    for (struct task t = {0}; task_next(s->queues, w->tasks.count, &t);)
        task_backward(s, w, t.number, r);
#pragma omp barrier
#pragma omp for schedule(static) nowait
    for (int64_t t = 0; t < w->tasks.count; t++)
        join(s, w, t);
}

static void backward(const struct sparse_attention_backward_args *a, const struct mask *mask)
{
    int64_t bytes;
    struct gradients s = gradients_of(a, &bytes);
    s.mask = mask;
    int threads = threads_for(&a->call, (a->q.rows + a->adj.col.rows) * a->q.cols, 1 << 13);
#pragma omp parallel num_threads(threads)
    {
        struct workspace work = {0};
        lay_out(&s.heads, s.workspaces + omp_get_thread_num() * s.per_thread, &work);
        run_pass(&s, &s.receive, &work);
        run_pass(&s, &s.send, &work);
    }
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
