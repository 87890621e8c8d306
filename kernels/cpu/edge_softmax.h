/*
 * The softmax over a row's edges, with the weighted sum of rows at their other ends, all heads at a time:
 *
 *   y_i = sum exp(s_e) v_j / sum exp(s_e) (+ bias)    lse_i = log sum exp(s_e)    s_e: a score times `scale`
 *
 * The sums of exp(s_e) begin at `eps`, which is 0 unless all scores are small: it is not rescaled.
 *
 * With dropout exp(s_e) in the first of these sums is an entry of an E x H matrix, of which `mask` keeps
 * some.
 *
 * Edges are processed by groups (edge_groups.h), with the exponentials of all their heads side by side in
 * vectors. While all scores are within SAFE of zero, exponentials are computed directly. A row with a larger
 * score, or one in several groups, keeps a state (edge_states.h).
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_SOFTMAX_H
#define GTMARK_KERNELS_CPU_EDGE_SOFTMAX_H

#include "kernels/cpu/edge_states.h"

/* The sums of a group's whole rows, their reciprocals and logarithms; rows without edges have a sum of 1. */
static inline void edge_find_sums(const struct edge_softmax *s, const struct edge_work *r)
{
    int64_t heads = s->heads.heads, padded = round_up(heads, 4);
    float *sum = r->sums;
    for (int64_t k = 0; k < r->nodes->count; k++, sum += padded) {
        int64_t first = r->nodes->begins[k], n = r->nodes->begins[k + 1] - first;
        for (int64_t h = 0; h < padded; h += 4)
            store4(sum + h, (vec4){0} + (n > 0 ? s->eps : 1));
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
        double *lse = doubles_of(s->lse, row + k);
        for (int64_t n = 0; lse && n < h->heads; n++)
            lse[n] = r->logs[k * padded + n];
    }
}

/*
 * The kernel's work: `score` finds the edges of a group per row, r->nodes, and their scores, r->scores, and
 * returns the rows at their other ends; `task` is edge_softmax_task with it.
 */
typedef struct edge_rows edge_score(const struct edge_softmax *s, struct edge_work *r,
                                    const struct edge_group *g);
typedef void edge_softmax_work(const void *softmax, int64_t t, void *work);

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
    s->before[t] = edge_walk_begin(&s->tasks, t, &r->walk);
    for (struct edge_group g; edge_group_next(&s->tasks, &r->walk, s->heads.most, &g);) {
        edge_fetch_next(s->own, &g);
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
            if (s->before[t] > 0)
                edge_softmax_join(s, edge_first(&s->tasks, t).row, t, s->before[t]);
        }
    }
}

#endif
