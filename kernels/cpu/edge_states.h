/*
 * The softmax over edges (edge_softmax.h) of a row in several groups, or with large scores: its state after
 * some of its edges. From the first score beyond SAFE on, a running maximum per head is subtracted, and sums
 * are rescaled when it grows (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018). The
 * pieces of a hub (edges.h) are rescaled to a common maximum when they are added.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_STATES_H
#define GTMARK_KERNELS_CPU_EDGE_STATES_H

#include "kernels/cpu/edge_softmax_common.h"

#include <math.h>
#include <string.h>

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

static inline void edge_put_lse(const struct edge_softmax *s, struct edge_state from, int64_t i)
{
    double *lse = doubles_of(s->lse, i);
    for (int64_t h = 0; lse && h < s->heads.heads; h++)
        lse[h] = (double)from.top[h] * s->scale + vm_log(from.sum[h]);
}

/* y and lse of row i, whose only piece is the current one. */
static inline void edge_softmax_end(const struct edge_softmax *s, struct edge_work *r, int64_t i)
{
    struct edge_state state = r->state;
    for (int64_t h = 0; h < s->heads.heads; h++) {
        state.sum[h] += s->eps;
        edge_scale_head(&s->heads, state.y, h, 1 / state.sum[h]);
    }
    edge_collect(&s->heads, state.y, row_of(s->y, i), false);
    edge_add_bias(s, i);
    edge_put_lse(s, state, i);
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
        for (int64_t h = 0; h < heads && part.sum[h] != 0; h++) {
            float top = part.top[h] > all.top[h] ? part.top[h] : all.top[h];
            float old = vm_exp((all.top[h] - top) * s->scale), new = vm_exp((part.top[h] - top) * s->scale);
            all.top[h] = top;
            all.sum[h] = all.sum[h] * old + part.sum[h] * new;
            for (int64_t k = h * dh; k < (h + 1) * dh; k++)
                all.y[k] = all.y[k] * old + part.y[k] * new;
        }
    }
    for (int64_t h = 0; h < heads; h++) {
        all.sum[h] += s->eps;
        for (int64_t k = h * dh; k < (h + 1) * dh; k++)
            row_of(s->y, i)[k] = all.y[k] / all.sum[h];
    }
    edge_add_bias(s, i);
    edge_put_lse(s, all, i);
}

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

#endif
