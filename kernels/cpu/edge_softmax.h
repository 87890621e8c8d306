/*
 * The softmax over a row's edges, with the weighted sum of rows at their other ends, all heads at a time:
 *
 *   y_i = sum exp(s_e) v_j / sum exp(s_e) (+ bias)    lse_i = log sum exp(s_e)    s_e: a score times `scale`
 *
 * With dropout exp(s_e) in the first of these sums is an entry of an E x H matrix, of which `mask` keeps
 * some.
 *
 * Edges are processed by groups (edge_groups.h), with the exponentials of all their heads side by side in
 * vectors. While all scores are within SAFE of zero, exponentials are computed directly. A row with a larger
 * score, or one in several groups, keeps a state: from the first larger score on, a running maximum per head
 * is subtracted, and sums are rescaled when it grows (Milakov and Gimelshein, "Online normalizer calculation
 * for softmax", 2018). The pieces of a hub (edges.h) are rescaled to a common maximum when they are added.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_SOFTMAX_H
#define GTMARK_KERNELS_CPU_EDGE_SOFTMAX_H

#include "kernels/cpu/edge_heads.h"
#include "kernels/cpu/mask.h"
#include "kernels/cpu/tasks.h"

#include <math.h>
#include <string.h>

#define SAFE 30.0f /* e^30 can be summed over any number of edges, and e^-30 is not denormal */

struct edge_softmax {
    const void *args; /* of the kernel */
    struct edge_heads heads;
    struct edge_tasks tasks;
    struct mat own, y, lse;  /* own: the receivers' rows that `score` reads */
    const float *bias;       /* a row; null: none */
    const float *shared;     /* a spread row, in `copy`, for the kernel */
    const struct mask *mask; /* null: none */
    float scale;
    float *parts;              /* scratch: two states per task, of its first and last piece */
    int64_t state;             /* floats of a part's state */
    float *copy, *workspaces;  /* scratch: a spread row for the kernel; per thread */
    int64_t per_thread, extra; /* floats; extra: that the kernel wants for each thread */
    struct task_queue *queues;
};

/* The state of a row after some of its edges; top is subtracted from the scores. */
struct edge_state {
    float *top, *sum; /* H each, padded to a multiple of 4 */
    float *y;         /* a spread row in a workspace, otherwise D */
};

/* Scratch of a thread. */
struct edge_work {
    struct edge_state state;
    bool shifted;                   /* whether tops are subtracted */
    const struct edge_nodes *nodes; /* of the current group */
    struct edge_nodes looped;       /* for the kernel */
    float *own, *products, *scores, *copies[2], *extra;
    float *sums, *factors, *logs, *y; /* of a group's rows: H each, padded to a multiple of 4; spread rows */
};

static inline struct edge_softmax edge_softmax_of(struct edge_tasks tasks, struct mat own, struct mat y,
                                                  struct mat lse, int64_t heads, float scale)
{
    return (struct edge_softmax){.heads = edge_heads_of(y.cols, heads),
                                 .tasks = tasks,
                                 .own = own,
                                 .y = y,
                                 .lse = lse,
                                 .scale = scale,
                                 .state = 2 * round_up(heads, 4) + y.cols};
}

static inline struct edge_state edge_state_at(const struct edge_softmax *s, float *at)
{
    int64_t heads = round_up(s->heads.heads, 4);
    return (struct edge_state){at, at + heads, at + 2 * heads};
}

/* Lays out a thread's scratch and returns its size in floats; `at` null: only the size. */
static inline int64_t edge_work_lay_out(const struct edge_softmax *s, float *at, struct edge_work *r)
{
    const struct edge_heads *h = &s->heads;
    int64_t spread = edge_spread_size(h), heads = EDGE_NODES * round_up(h->heads, 4);
    float *state;
    const struct scratch_part parts[] = {{&r->products, edge_products_size(h)},
                                         {&r->scores, h->units},
                                         {&r->own, edge_spreads_size(h)},
                                         {&r->y, edge_spreads_size(h)},
                                         {&r->sums, heads},
                                         {&r->factors, heads},
                                         {&r->logs, heads},
                                         {&r->copies[0], edge_copies_size(h)},
                                         {&r->copies[1], edge_copies_size(h)},
                                         {&state, 2 * round_up(h->heads, 4) + spread},
                                         {&r->extra, s->extra}};
    int64_t size = SCRATCH(at, parts);
    if (at)
        r->state = edge_state_at(s, state);
    return size;
}

/* Lays out the scratch of a call, and returns its bytes. */
static inline int64_t edge_softmax_lay_out(struct edge_softmax *s, const struct call *call)
{
    struct edge_work unused;
    float *columns, *queues;
    s->per_thread = edge_work_lay_out(s, NULL, &unused);
    const struct scratch_part parts[] = {{&columns, edge_columns_size(&s->heads)},
                                         {&queues, task_queues_size(call->threads)},
                                         {&s->parts, 2 * s->tasks.count * s->state},
                                         {&s->workspaces, s->per_thread * call->threads},
                                         {&s->copy, edge_spread_size(&s->heads)}};
    int64_t floats = SCRATCH(call->scratch, parts);
    edge_find_columns(&s->heads, columns);
    s->queues = (struct task_queue *)(void *)queues;
    return 4 * floats;
}

/* Whether all scores are within SAFE of zero. Bit patterns of floats without sign are ordered like the
 * floats. */
static inline bool edge_all_safe(int64_t n, const float *scores, float scale)
{
    int32_t most = (int32_t)vm_bits(SAFE / scale);
    vm_ints large = {0}, lane;
    for (int l = 0; l < LANES; l++)
        lane[l] = l;
    int64_t u = 0;
    for (; u + LANES <= n; u += LANES)
        large |= ((vm_ints)load(scores + u) & 0x7fffffff) > most;
    if (u < n)
        large |= (((vm_ints)load(scores + u) & 0x7fffffff) > most) & (lane < (int32_t)(n - u));
    return vm_sum((vec)(large & (int32_t)vm_bits(1))) == 0;
}

/* Multiplies head h of a spread row by a factor. */
static inline void edge_scale_head(const struct edge_heads *s, float *spread, int64_t h, float factor)
{
    int64_t width = s->per * LANES;
    for (int64_t k = h * width; k < (h + 1) * width; k += LANES)
        store(spread + k, factor * load(spread + k));
}

/* Updates the tops with n more edges, and subtracts them. */
static inline void edge_shift(const struct edge_softmax *s, struct edge_work *r, int64_t n, bool first)
{
    int64_t heads = s->heads.heads;
    for (int64_t h = 0; h < heads; h++) {
        float *score = r->scores + h, top = first ? score[0] : r->state.top[h];
        for (int64_t e = 0; e < n; e++)
            top = score[e * heads] > top ? score[e * heads] : top;
        float correction = first ? 1 : vm_exp((r->state.top[h] - top) * s->scale);
        r->state.sum[h] *= correction;
        edge_scale_head(&s->heads, r->state.y, h, correction);
        r->state.top[h] = top;
        for (int64_t e = 0; e < n; e++)
            score[e * heads] -= top;
    }
}

/* p = exp(scale s) in place, up to the end of the last vector. */
static inline void edge_exponentials(int64_t n, float *restrict s, float scale)
{
    for (int64_t u = 0; u < n; u += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            s[u + l] = vm_half_exp(s[u + l] * scale + VM_LN2);
    }
}

/* Adds p of n edges to sums by head, which are undefined beyond the last head. */
static inline void edge_add_heads(int64_t n, int64_t heads, const float *p, float *sum)
{
    for (int64_t h = 0; h < heads; h += 4) {
        vec4 total = load4(sum + h);
        for (int64_t e = 0; e < n; e++)
            total += load4(p + e * heads + h);
        store4(sum + h, total);
    }
}

/* With dropout, of the group's edges, which then are consecutive. */
static inline void edge_drop(const struct edge_softmax *s, const struct edge_work *r,
                             const struct edge_group *g)
{
    int64_t heads = s->heads.heads;
    if (s->mask)
        mask_in_place(*s->mask, g->first * heads, (g->end - g->first) * heads, r->scores);
}

/* Begins a piece of a row. */
static inline void edge_softmax_begin(const struct edge_softmax *s, struct edge_work *r)
{
    r->shifted = false;
    for (float *at = r->state.top; at < r->state.y; at += 4)
        store4(at, (vec4){0});
    for (int64_t k = 0, size = edge_spread_size(&s->heads); k < size; k += LANES)
        store(r->state.y + k, (vec){0});
}

/* Adds a group's edges, whose scores are in the workspace, to the current piece. */
static inline void edge_softmax_add(const struct edge_softmax *s, struct edge_work *r,
                                    const struct edge_group *g, const struct edge_rows *values)
{
    const struct edge_heads *h = &s->heads;
    int64_t n = r->nodes->begins[1];
    if (!r->shifted)
        r->shifted = !edge_all_safe(n * h->heads, r->scores, s->scale);
    if (r->shifted)
        edge_shift(s, r, n, edge_group_opens(g));
    edge_exponentials(n * h->heads, r->scores, s->scale);
    edge_add_heads(n, h->heads, r->scores, r->state.sum);
    edge_drop(s, r, g);
    edge_weigh(h, r->nodes, r->scores, values, true, (struct edge_target){.at = r->state.y, .add = true});
}

static inline void edge_add_bias(const struct edge_softmax *s, int64_t i)
{
    float *y = row_of(s->y, i);
    for (int64_t k = 0; k < s->heads.d && s->bias; k++)
        y[k] += s->bias[k];
}

static inline void edge_put_lse(const struct edge_softmax *s, struct edge_state from, int64_t i)
{
    float *lse = row_of(s->lse, i), four[4];
    for (int64_t h = 0, heads = lse ? s->heads.heads : 0; h < heads; h += 4) {
#pragma omp simd
        for (int l = 0; l < 4; l++)
            four[l] = from.top[h + l] * s->scale + vm_log(from.sum[h + l]);
        edge_put_heads(four, min_of(4, heads - h), lse + h);
    }
}

/* y and lse of row i, whose only piece is the current one. */
static inline void edge_softmax_end(const struct edge_softmax *s, struct edge_work *r, int64_t i)
{
    struct edge_state state = r->state;
    for (int64_t h = 0; h < s->heads.heads; h++)
        edge_scale_head(&s->heads, state.y, h, 1 / state.sum[h]);
    edge_collect(&s->heads, state.y, row_of(s->y, i), false);
    edge_add_bias(s, i);
    edge_put_lse(s, state, i);
}

/* The sums of a group's whole rows, their reciprocals and logarithms; rows without edges have a sum of 1. */
static inline void edge_find_sums(const struct edge_softmax *s, const struct edge_work *r)
{
    int64_t heads = s->heads.heads, padded = round_up(heads, 4);
    float *sum = r->sums;
    for (int64_t k = 0; k < r->nodes->count; k++, sum += padded) {
        int64_t first = r->nodes->begins[k], n = r->nodes->begins[k + 1] - first;
        for (int64_t h = 0; h < padded; h += 4)
            store4(sum + h, n > 0 ? (vec4){0} : (vec4){1, 1, 1, 1});
        edge_add_heads(n, heads, r->scores + first * heads, sum);
    }
    for (int64_t u = 0; u < r->nodes->count * padded; u += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            r->factors[u + l] = 1 / r->sums[u + l];
            r->logs[u + l] = vm_log(r->sums[u + l]);
        }
    }
}

/* y and lse of a group of whole rows whose scores, in the workspace, are all safe. */
static inline void edge_softmax_rows(const struct edge_softmax *s, struct edge_work *r,
                                     const struct edge_group *g, const struct edge_rows *values)
{
    const struct edge_heads *h = &s->heads;
    int64_t row = g->piece.row, padded = round_up(h->heads, 4), spread = edge_spread_size(h);
    bool direct = edge_is_spread(h);
    edge_exponentials(r->nodes->begins[g->nodes.count] * h->heads, r->scores, s->scale);
    edge_find_sums(s, r);
    edge_drop(s, r, g);
    edge_weigh(h, r->nodes, r->scores, values, true,
               (struct edge_target){.at = direct ? row_of(s->y, row) : r->y,
                                    .ld = direct ? s->y.ld : spread,
                                    .factors = r->factors,
                                    .padded = padded});
    for (int64_t k = 0; k < g->nodes.count; k++) {
        if (!direct)
            edge_collect(h, r->y + k * spread, row_of(s->y, row + k), false);
        edge_add_bias(s, row + k);
        if (mat_present(s->lse))
            edge_put_heads(r->logs + k * padded, h->heads, row_of(s->lse, row + k));
    }
}

/* The state of task t's first piece, which ends a hub, or of its last, which does not. */
static inline float *edge_part_of(const struct edge_softmax *s, int64_t t, bool ends)
{
    return s->parts + (2 * t + !ends) * s->state;
}

/* Ends the current piece, which is one of several. */
static inline void edge_softmax_keep(const struct edge_softmax *s, struct edge_work *r, float *part)
{
    struct edge_state to = edge_state_at(s, part);
    memcpy(to.top, r->state.top, (size_t)(r->state.y - r->state.top) * sizeof(float));
    edge_collect(&s->heads, r->state.y, to.y, false);
}

/*
 * y and lse of row i, a hub: combines its end, which is the first piece of task t, with `count` pieces. Those
 * without any edges have sums of 0.
 */
static inline void edge_softmax_join(const struct edge_softmax *s, int64_t i, int64_t t, int64_t count)
{
    int64_t heads = s->heads.heads, dh = s->heads.dh;
    struct edge_state all = edge_state_at(s, edge_part_of(s, t, true));
    for (int64_t c = t - count; c < t; c++) {
        struct edge_state part = edge_state_at(s, edge_part_of(s, c, false));
        for (int64_t h = 0; h < heads && part.sum[h] > 0; h++) {
            float top = part.top[h] > all.top[h] ? part.top[h] : all.top[h];
            float old = vm_exp((all.top[h] - top) * s->scale), new = vm_exp((part.top[h] - top) * s->scale);
            all.top[h] = top;
            all.sum[h] = all.sum[h] * old + part.sum[h] * new;
            for (int64_t k = h * dh; k < (h + 1) * dh; k++)
                all.y[k] = all.y[k] * old + part.y[k] * new;
        }
    }
    for (int64_t h = 0; h < heads; h++)
        for (int64_t k = h * dh; k < (h + 1) * dh; k++)
            row_of(s->y, i)[k] = all.y[k] / all.sum[h];
    edge_add_bias(s, i);
    edge_put_lse(s, all, i);
}

/*
 * The kernel's work: `score` finds the edges of a group per row, r->nodes, and their scores, r->scores, and
 * returns the rows at their other ends; `task` is edge_softmax_task with it.
 */
typedef struct edge_rows edge_score(const struct edge_softmax *s, struct edge_work *r,
                                    const struct edge_group *g);
typedef void edge_softmax_work(const void *softmax, int64_t t, void *work);

/* A group in a single row of task t. */
INLINE void edge_softmax_part(const struct edge_softmax *s, int64_t t, struct edge_work *r,
                              const struct edge_group *g, const struct edge_rows *values)
{
    if (edge_group_opens(g))
        edge_softmax_begin(s, r);
    edge_softmax_add(s, r, g, values);
    if (!edge_group_closes(g))
        return;
    if (g->piece.begins && g->piece.ends)
        edge_softmax_end(s, r, g->piece.row);
    else
        edge_softmax_keep(s, r, edge_part_of(s, t, g->piece.ends));
}

/* A group of task t; false if its rows have to be computed one by one. */
INLINE bool edge_softmax_group(const struct edge_softmax *s, int64_t t, struct edge_work *r,
                               const struct edge_group *g, edge_score *score)
{
    struct edge_rows values = score(s, r, g);
    int64_t units = r->nodes->begins[g->nodes.count] * s->heads.heads;
    if (edge_group_whole(g) && edge_all_safe(units, r->scores, s->scale))
        edge_softmax_rows(s, r, g, &values);
    else if (g->nodes.count == 1)
        edge_softmax_part(s, t, r, g, &values);
    else
        return false;
    return true;
}

INLINE void edge_softmax_task(const struct edge_softmax *s, int64_t t, struct edge_work *r, edge_score *score)
{
    struct edge_walk walk = edge_walk(&s->tasks, t);
    for (struct edge_group g; edge_group_next(&s->tasks, &walk, s->heads.most, &g);) {
        for (int64_t i = g.piece.row + g.nodes.count; i < g.piece.row + 2 * g.nodes.count; i++) {
            edge_fetch_row(s->own, i);
            edge_claim_row(s->y, i);
        }
        if (!edge_softmax_group(s, t, r, &g, score))
            for (int64_t k = 0; k < g.nodes.count; k++) {
                struct edge_group row = edge_group_row(&g, k);
                edge_softmax_group(s, t, r, &row, score);
            }
    }
}

/* Computes y and lse. */
INLINE void edge_softmax_run(const struct edge_softmax *s, const struct call *call, edge_softmax_work *task)
{
    int threads = threads_for(call, (s->tasks.nodes + s->tasks.edges) * s->y.cols, 1 << 14);
#pragma omp parallel num_threads(threads)
    {
        struct edge_work work = {0};
        edge_work_lay_out(s, s->workspaces + omp_get_thread_num() * s->per_thread, &work);
        tasks_run(s->queues, s->tasks.count, s, &work, task);
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < s->tasks.count; t++) {
            int64_t before = edge_pieces_before(&s->tasks, t);
            if (before)
                edge_softmax_join(s, edge_first(&s->tasks, t).row, t, before);
        }
    }
}

#endif
