/*
 * The softmax over edges (edge_softmax.h): what its functions know of a call, their scratch, and the
 * arithmetic that groups of rows and rows with a state (edge_states.h) share.
 */
#ifndef GTMARK_KERNELS_CPU_EDGE_SOFTMAX_COMMON_H
#define GTMARK_KERNELS_CPU_EDGE_SOFTMAX_COMMON_H

#include "kernels/cpu/edge_heads.h"
#include "kernels/cpu/mask.h"
#include "kernels/cpu/tasks.h"

#define SAFE 30.0f /* e^30 can be summed over any number of edges, and e^-30 is not denormal */

struct edge_softmax {
    const void *args; /* of the kernel */
    struct edge_heads heads;
    struct edge_tasks tasks;
    struct mat own, y, lse;    /* own: the receivers' rows that `score` reads */
    const float *bias;         /* a row; null: none */
    const float *shared;       /* a spread row, in `copy`, for the kernel */
    const struct mask *mask;   /* null: none */
    float scale, eps;          /* eps: where sums begin */
    float *parts;              /* scratch: two states per task, of its first and last piece */
    int64_t state;             /* floats of a part's state */
    float *copy, *workspaces;  /* scratch: a spread row for the kernel; per thread */
    int64_t per_thread, extra; /* floats; extra: that the kernel wants for each thread */
    int64_t *before;           /* scratch: pieces before the first of each task */
    struct task_queue *queues;
};

/* The state of a row after some of its edges; top is subtracted from the scores. */
struct edge_state {
    float *top, *sum; /* H each, padded to a multiple of 4 */
    float *y;         /* a spread row in a workspace, otherwise D */
};

/* A thread's state: its position, and scratch. */
struct edge_work {
    struct edge_walk walk;
    struct edge_state state;
    bool shifted;                   /* whether tops are subtracted */
    const struct edge_nodes *nodes; /* of the current group */
    struct edge_nodes looped;       /* for the kernel */
    float *own, *scores, *copies[2], *extra;
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
    int64_t spread = edge_spread_size(h), heads = edge_group_rows(h) * round_up(h->heads, 4);
    float *state;
    const struct scratch_part parts[] = {{&r->scores, h->units},
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
    float *columns, *queues, *before;
    s->per_thread = edge_work_lay_out(s, NULL, &unused);
    const struct scratch_part parts[] = {{&columns, edge_columns_size(&s->heads)},
                                         {&queues, task_queues_size(call->threads)},
                                         {&before, s->tasks.count * (int64_t)(sizeof *s->before / 4)},
                                         {&s->parts, 2 * s->tasks.count * s->state},
                                         {&s->workspaces, s->per_thread * call->threads},
                                         {&s->copy, edge_spread_size(&s->heads)}};
    int64_t floats = SCRATCH(call->scratch, parts);
    edge_find_columns(&s->heads, columns);
    s->queues = (struct task_queue *)(void *)queues;
    s->before = (int64_t *)(void *)before;
    return 4 * floats;
}

/* Whether all scores are within SAFE of zero. Without the sign, bit patterns are ordered like the floats. */
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

/* Adds it to y of row i. */
static inline void edge_add_bias(const struct edge_softmax *s, int64_t i)
{
    float *y = row_of(s->y, i);
    for (int64_t k = 0; k < s->heads.d && s->bias; k++)
        y[k] += s->bias[k];
}

#endif
