/*
 * Backward of attention over edges, with p recomputed from the saved lse, for e: j -> i, per head:
 *
 *   p_e = exp(scale s_e - lse_i)    ds_e = p_e (dp_e - delta_i) scale
 *
 * Where scores are large, one edge mostly has all of p, and ds is 0 there: it is multiplied by rows that are
 * large too, and so would be an error. So for rows whose lse is beyond FAR, exponents are computed in double,
 * of scores with the bits that they had in the forward, and delta_i is the sum of p_e dp_e.
 *
 * A pass over receivers computes the gradients of their rows, a pass over senders those of theirs, so each
 * gradient is written by one task. For the second pass, the first stores either p and ds of every edge, or
 * delta of every node, with which p and ds are computed again.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_GRADIENTS_H
#define GTMARK_KERNELS_CPU_EDGE_GRADIENTS_H

#include "kernels/cpu/edge_heads.h"
#include "kernels/cpu/tasks.h"

#include <math.h>
#include <string.h>

#define FAR 30.0f /* up to here, the rounding of lse to float changes p by 2e-6 */

enum { EDGE_EXTRA = 4 };

/* Scores are of own[0] and other[0], products of own[1] and other[1]. */
struct edge_pass {
    const struct edge_gradients *of;
    struct edge_tasks tasks;
    struct mat own[2], other[2], out[2]; /* own, and out[1], may be absent */
    bool sends;
    float *parts;  /* scratch: one part per task */
    int64_t width; /* floats per part: D per output */
};

/* A thread's state: its position; copies and sums of a group's spread rows; the rest for its edges. */
struct edge_back {
    struct edge_walk walk;
    float *own[2], *sum[2];
    float *softmax; /* lse and delta of each row, if it receives, `padded` floats each */
    float *shares;  /* sum of p of each row, while delta is summed */
    float *p, *ds, *lse, *delta, *copies[2], *extra[EDGE_EXTRA];
};

struct edge_gradients {
    const void *args; /* of the kernel */
    struct edge_heads heads;
    struct edge_pass receive, send;
    struct mat y, lse; /* of the receivers */
    float scale;
    bool keeps;                        /* the first pass keeps lse and delta of every node for the second */
    bool indirect;                     /* sums are not yet the outputs when they are complete */
    float *softmax, *shared;           /* scratch: those, `padded` floats each; for the kernel */
    float *hubs;                       /* scratch: delta of the hub that begins in each task */
    float *workspaces;                 /* scratch: per thread */
    int64_t *before;                   /* scratch: pieces before the first of each task */
    int64_t padded, per_thread;        /* floats */
    int64_t wanted, extra[EDGE_EXTRA]; /* floats that the kernel wants in `shared`, and for each thread */
    struct task_queue *queues;
};

/* Lays out a thread's scratch and returns its size in floats; `at` null: only the size. */
static inline int64_t edge_back_lay_out(const struct edge_gradients *s, float *at, struct edge_back *r)
{
    const struct edge_heads *h = &s->heads;
    int64_t rows = edge_group_rows(h), spreads = rows * edge_spread_size(h), copies = edge_copies_size(h);
    const struct scratch_part parts[] = {{&r->own[0], edge_spreads_size(h)},
                                         {&r->own[1], edge_spreads_size(h)},
                                         {&r->sum[0], spreads},
                                         {&r->sum[1], spreads},
                                         {&r->softmax, rows * 2 * s->padded},
                                         {&r->shares, rows * s->padded},
                                         {&r->p, h->units},
                                         {&r->ds, h->units},
                                         {&r->lse, h->units},
                                         {&r->delta, h->units},
                                         {&r->copies[0], copies},
                                         {&r->copies[1], copies},
                                         {&r->extra[0], s->extra[0]},
                                         {&r->extra[1], s->extra[1]},
                                         {&r->extra[2], s->extra[2]},
                                         {&r->extra[3], s->extra[3]}};
    return SCRATCH(at, parts);
}

/* Lays out the scratch of a call, and returns its bytes. */
static inline int64_t edge_gradients_lay_out(struct edge_gradients *s, const struct call *call)
{
    struct edge_back unused;
    float *columns, *queues, *before;
    int64_t tasks = max_of(s->receive.tasks.count, s->send.tasks.count);
    s->padded = round_up(s->heads.heads, 4);
    s->per_thread = edge_back_lay_out(s, NULL, &unused);
    const struct scratch_part parts[] = {{&columns, edge_columns_size(&s->heads)},
                                         {&queues, task_queues_size(call->threads)},
                                         {&before, tasks * (int64_t)(sizeof *s->before / 4)},
                                         {&s->softmax, s->keeps ? 2 * s->padded * s->y.rows : 0},
                                         {&s->shared, s->wanted},
                                         {&s->hubs, s->receive.tasks.count * s->padded},
                                         {&s->receive.parts, s->receive.tasks.count * s->receive.width},
                                         {&s->send.parts, s->send.tasks.count * s->send.width},
                                         {&s->workspaces, s->per_thread * call->threads}};
    int64_t floats = SCRATCH(call->scratch, parts);
    edge_find_columns(&s->heads, columns);
    s->queues = (struct task_queue *)(void *)queues;
    s->before = (int64_t *)(void *)before;
    return 4 * floats;
}

/* lse and delta of node i. */
static inline float *edge_softmax_at(const struct edge_gradients *s, int64_t i)
{
    return s->softmax + 2 * s->padded * i;
}

/* Stores lse and delta of receiver i, which is row k of its group; for the next pass too if `keep`. */
static inline void edge_put_softmax(const struct edge_gradients *s, const struct edge_back *r, int64_t k,
                                    const float *delta, int64_t i, bool keep)
{
    float *to = r->softmax + 2 * s->padded * k;
    const double *lse = doubles_of(s->lse, i);
    int64_t h = 0;
    for (; h + 4 <= s->heads.heads; h += 4) {
#pragma omp simd
        for (int l = 0; l < 4; l++)
            to[h + l] = (float)lse[h + l];
    }
    for (; h < s->heads.heads; h++)
        to[h] = (float)lse[h];
    edge_put_heads(delta, s->heads.heads, to + s->padded);
    for (h = 0; h < 2 * s->padded && keep; h += 4)
        store4(edge_softmax_at(s, i) + h, load4(to + h));
}

/*
 * Copies lse and delta of a group's rows, which receive, for each of their edges, laid out like the dots.
 * Whole vec4s reach into the next edge: the last heads go first, so that its first heads are stored after
 * them.
 */
static inline void edge_spread_softmax(const struct edge_pass *w, const struct edge_back *r,
                                       const struct edge_nodes *nodes)
{
    int64_t heads = w->of->heads.heads, padded = w->of->padded;
    for (int64_t h = padded - 4; h >= 0; h -= 4)
        for (int64_t e = 0, n = nodes->begins[nodes->count]; e < n; e++) {
            const float *from = r->softmax + 2 * padded * nodes->rows[e] + h;
            store4(r->lse + e * heads + h, load4(from));
            store4(r->delta + e * heads + h, load4(from + padded));
        }
}

/* The same of n receivers `ends`, which keep theirs; prefetches those of edges AHEAD, up to ends[last]. */
static inline void edge_gather_softmax(const struct edge_pass *w, const struct edge_back *r,
                                       const int32_t *ends, int64_t n, int64_t last)
{
    enum { AHEAD = 64 };
    const struct edge_gradients *s = w->of;
    int64_t heads = s->heads.heads;
    for (int64_t h = s->padded - 4; h >= 0; h -= 4)
        for (int64_t e = 0; e < n; e++) {
            const float *from = edge_softmax_at(s, ends[e]) + h;
            __builtin_prefetch(edge_softmax_at(s, ends[min_of(e + AHEAD, last)]) + 2 * h);
            store4(r->lse + e * heads + h, load4(from));
            store4(r->delta + e * heads + h, load4(from + s->padded));
        }
}

/*
 * p and dp contain scores and products of n edges and heads, and become p and ds, up to the end of the last
 * vector. Probabilities are clamped to 1.
 */
static inline void edge_slopes(int64_t n, float *restrict p, float *restrict dp, const float *restrict lse,
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

/* Whether any of n lse is beyond FAR. */
static inline bool edge_any_far(int64_t n, const float *lse)
{
    int32_t far = 0;
#pragma omp simd reduction(| : far)
    for (int64_t u = 0; u < n; u++)
        far |= !(fabsf(lse[u]) <= FAR);
    return far;
}

static inline bool edge_rows_far(const struct edge_gradients *s, int64_t row, int64_t count)
{
    int64_t heads = s->heads.heads, together = s->lse.ld == heads ? count : 1;
    int64_t far = 0;
    for (int64_t k = 0; k < count; k += together) {
        const double *lse = doubles_of(s->lse, row + k);
#pragma omp simd reduction(| : far)
        for (int64_t h = 0; h < together * heads; h++)
            far |= !(fabs(lse[h]) <= FAR);
    }
    return far;
}

/* Scores of n edges become p, without rounding of lse. The receiver of edge e is row + at[e]. */
static inline void edge_far_softmax(const struct edge_gradients *s, int64_t n, float *p, int64_t row,
                                    const int32_t *at)
{
    int64_t heads = s->heads.heads;
    for (int64_t e = 0; e < n; e++)
        for (int64_t h = 0; h < heads; h++) {
            double x = (double)p[e * heads + h] * s->scale - doubles_of(s->lse, row + at[e])[h];
            p[e * heads + h] = vm_exp(x > 0 ? 0 : (float)x);
        }
}

/*
 * Scores and products of n edges, r->p and r->ds, become p and ds. The receiver of edge e is row + at[e];
 * far: the lse of some is.
 */
static inline void edge_find_slopes(const struct edge_gradients *s, const struct edge_back *r, int64_t n,
                                    int64_t row, const int32_t *at, bool far)
{
    int64_t count = n * s->heads.heads;
    if (!far) {
        edge_slopes(count, r->p, r->ds, r->lse, r->delta, s->scale);
        return;
    }
    edge_far_softmax(s, n, r->p, row, at);
    for (int64_t u = 0; u < count; u++)
        r->ds[u] = r->p[u] * (r->ds[u] - r->delta[u]) * s->scale;
}

/* Finds the scores and products of a group's edges, r->p and r->ds, and of which node each edge is. */
typedef void edge_products(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                           const struct edge_own own[2], struct edge_nodes *nodes);

/* Adds the p of a group's edges to their rows' shares, and p dp to delta. */
INLINE void edge_add_deltas(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                            const struct edge_own own[2], edge_products *products)
{
    const struct edge_gradients *s = w->of;
    int64_t heads = s->heads.heads;
    struct edge_nodes nodes;
    products(w, r, g, own, &nodes);
    int64_t n = nodes.begins[nodes.count];
    edge_far_softmax(s, n, r->p, g->piece.row, nodes.rows);
    for (int64_t e = 0; e < n; e++)
        for (int64_t h = 0; h < heads; h++) {
            r->shares[nodes.rows[e] * s->padded + h] += r->p[e * heads + h];
            r->softmax[(2 * nodes.rows[e] + 1) * s->padded + h] += r->p[e * heads + h] * r->ds[e * heads + h];
        }
}

/*
 * delta of whole rows, in r->softmax, becomes the mean of dp, weighted by p. They are one group, or one row,
 * which may go on after the group.
 */
INLINE void edge_mean_deltas(const struct edge_pass *w, const struct edge_back *r, struct edge_group g,
                             const struct edge_own own[2], edge_products *products)
{
    const struct edge_gradients *s = w->of;
    int64_t rows = g.nodes.count, size = s->padded, most = s->heads.most - 1;
    memset(r->shares, 0, (size_t)(rows * size) * sizeof(float));
    for (int64_t k = 0; k < rows; k++)
        memset(r->softmax + (2 * k + 1) * size, 0, (size_t)size * sizeof(float));
    edge_add_deltas(w, r, &g, own, products);
    while (rows == 1 && g.end < g.piece.end) {
        g.first = g.end;
        edge_nodes_clear(&g.nodes);
        edge_group_add(&g, min_of(g.first + most, g.piece.end));
        edge_add_deltas(w, r, &g, own, products);
    }
    for (int64_t k = 0; k < rows; k++)
        for (int64_t h = 0; h < size; h++) {
            float share = r->shares[k * size + h];
            r->softmax[(2 * k + 1) * size + h] /= share > 0 ? share : 1;
        }
}

/* delta of a hub, in the scratch of the task where it begins. */
static inline float *edge_hub_at(const struct edge_pass *w, int64_t row)
{
    return w->of->hubs + (w->tasks.row[row] + row) / w->tasks.size * w->of->padded;
}

/* If a hub begins in task t, whose pieces are those of several tasks: finds its delta. */
INLINE void edge_hub_delta(const struct edge_pass *w, const struct edge_back *r, int64_t t,
                           edge_products *products)
{
    const struct edge_gradients *s = w->of;
    struct edge_piece next = edge_first(&w->tasks, t + 1);
    int64_t row = next.row, first = w->tasks.row[row];
    if (next.begins || (first + row) / w->tasks.size != t || !edge_rows_far(s, row, 1))
        return;
    struct edge_group g = {.piece = {row, first, w->tasks.row[row + 1], true, true}, .first = first};
    edge_group_add(&g, min_of(first + s->heads.most - 1, g.piece.end));
    struct edge_own own[2];
    for (int m = 0; m < 2; m++)
        own[m] = edge_spreads(&s->heads, w->own[m], row, 1, r->own[m]);
    edge_mean_deltas(w, r, g, own, products);
    memcpy(edge_hub_at(w, row), r->softmax + s->padded, (size_t)s->padded * sizeof(float));
}

/* Replaces delta of a group's rows, which it opens, if the lse of any is beyond FAR. */
INLINE void edge_far_deltas(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                            const struct edge_own own[2], edge_products *products)
{
    const struct edge_gradients *s = w->of;
    int64_t row = g->piece.row, size = s->padded;
    if (!edge_rows_far(s, row, g->nodes.count))
        return;
    if (g->piece.begins && g->piece.ends)
        edge_mean_deltas(w, r, *g, own, products);
    else
        memcpy(r->softmax + size, edge_hub_at(w, row), (size_t)size * sizeof(float));
    for (int64_t k = 0; k < g->nodes.count && s->keeps; k++)
        memcpy(edge_softmax_at(s, row + k) + size, r->softmax + (2 * k + 1) * size,
               (size_t)size * sizeof(float));
}

/*
 * The kernel's work: `group` computes the sums of a group's rows, or adds to them, at `to`; `task` is
 * edge_pass_task with it.
 */
typedef void edge_group_backward(const struct edge_pass *w, const struct edge_back *r,
                                 const struct edge_group *g, const struct edge_own own[2],
                                 const struct edge_target to[2]);
typedef void edge_pass_work(const void *pass, int64_t t, void *back);

/* A group, whose outputs go to the part of its task if its row ends in another. */
INLINE void edge_pass_group(const struct edge_pass *w, const struct edge_back *r, const struct edge_group *g,
                            float *part, edge_group_backward *group)
{
    const struct edge_heads *h = &w->of->heads;
    int64_t row = g->piece.row, size = edge_spread_size(h);
    bool direct = edge_is_spread(h) && edge_group_whole(g) && !w->of->indirect;
    struct edge_own own[2] = {{NULL, 0}, {NULL, 0}};
    struct edge_target to[2];
    for (int m = 0; m < 2; m++) {
        struct mat out = w->out[m];
        if (mat_present(w->own[m]))
            own[m] = edge_spreads(h, w->own[m], row, g->nodes.count, r->own[m]);
        to[m] = (struct edge_target){.at = r->sum[m], .ld = size, .add = !edge_group_opens(g)};
        if (direct && mat_present(out))
            to[m] = (struct edge_target){.at = row_of(out, row), .ld = out.ld, .add = out.acc};
    }
    group(w, r, g, own, to);
    bool ends = g->piece.ends;
    for (int m = 0; m < 2 && mat_present(w->out[m]) && edge_group_closes(g) && !direct; m++)
        for (int64_t k = 0; k < g->nodes.count; k++)
            edge_collect(h, r->sum[m] + k * size, ends ? row_of(w->out[m], row + k) : part + m * h->d,
                         ends && w->out[m].acc);
}

INLINE void edge_pass_task(const struct edge_pass *w, int64_t t, struct edge_back *back,
                           edge_group_backward *group)
{
    w->of->before[t] = edge_walk_begin(&w->tasks, t, &back->walk);
    for (struct edge_group g; edge_group_next(&w->tasks, &back->walk, w->of->heads.most, &g);) {
        for (int m = 0; m < 2; m++)
            edge_fetch_next(w->own[m], &g);
        if (!w->sends)
            edge_fetch_next(w->of->y, &g);
        edge_pass_group(w, back, &g, w->parts + t * w->width, group);
    }
}

/* Both passes, by the threads of a parallel region; task t with a hub's end then adds the earlier pieces. */
INLINE void edge_gradients_run(const struct edge_gradients *s, edge_pass_work *task, edge_products *products)
{
    struct edge_pass passes[] = {s->receive, s->send};
    struct edge_back back;
    edge_back_lay_out(s, s->workspaces + omp_get_thread_num() * s->per_thread, &back);
    passes[0].of = passes[1].of = s;
#pragma omp for schedule(static)
    for (int64_t t = 0; t < s->receive.tasks.count; t++)
        edge_hub_delta(&passes[0], &back, t, products);
    for (int i = 0; i < 2; i++) {
        struct edge_pass *w = &passes[i];
        back.walk.next = 0;
        tasks_run(s->queues, w->tasks.count, w, &back, task);
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < w->tasks.count; t++) {
            int64_t before = s->before[t], row = before > 0 ? edge_first(&w->tasks, t).row : 0;
            for (int m = 0; m < 2 && before > 0 && mat_present(w->out[m]); m++)
                add_accumulators(s->heads.d, row_of(w->out[m], row), true,
                                 w->parts + (t - before) * w->width + m * s->heads.d, before, w->width);
        }
    }
}

#endif
