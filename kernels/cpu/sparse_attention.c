/*
 * Multi-head attention over the edges of a graph, a row with all its heads at a time:
 *
 *   s_e = q_i . k_j scale    y_i = sum exp(s_e) v_j / sum exp(s_e)    lse_i = log sum exp(s_e)    e: j -> i
 *
 * with scale = (D / H)^-1/2, per head; without edges y = lse = 0. q, k, v, y: N x D, lse: N x H.
 *
 * Edges of a row are processed a few dozen at a time, with the exponentials of all their heads side by side
 * in vectors. While all scores are within SAFE of zero, exponentials are computed directly; from the first
 * larger score on, a running maximum per head is subtracted, and sums are rescaled when it grows (Milakov and
 * Gimelshein, "Online normalizer calculation for softmax", 2018). The pieces of a hub (edges.h) are rescaled
 * to a common maximum when they are added.
 */
#include "kernels/cpu/edge_heads.h"
#include "kernels/cpu/vector_math.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define SAFE 30.0f /* e^30 can be summed over any number of edges, and e^-30 is not denormal */

struct attention {
    const struct sparse_attention_args *a;
    struct edge_tasks tasks;
    struct edge_heads heads;
    float scale;
    float *parts, *workspaces; /* scratch: two states per task, of its first and last piece; per thread */
    int64_t state, per_thread; /* their sizes in floats */
};

/* The state of a row after some of its edges; top is subtracted from the scores. */
struct state {
    float *top, *sum; /* H each, padded to a multiple of 4 */
    float *y;         /* a spread row in a workspace, otherwise D */
};

/* Scratch of a thread. */
struct workspace {
    struct state state;
    bool shifted; /* whether tops are subtracted */
    float *q, *products, *scores, *copies[2];
};

static struct state state_at(const struct attention *s, float *at)
{
    int64_t heads = round_up(s->heads.heads, 4);
    return (struct state){at, at + heads, at + 2 * heads};
}

/* Lays out a thread's scratch and returns its size in floats; `at` null: only the size. */
static int64_t lay_out(const struct attention *s, float *at, struct workspace *r)
{
    const struct edge_heads *h = &s->heads;
    int64_t spread = edge_spread_size(h);
    float *state;
    const struct edge_part parts[] = {{&r->products, edge_products_size(h)},
                                      {&r->scores, h->units},
                                      {&r->q, spread},
                                      {&r->copies[0], edge_copies_size(h)},
                                      {&r->copies[1], edge_copies_size(h)},
                                      {&state, 2 * round_up(h->heads, 4) + spread}};
    int64_t size = edge_lay_out(at, parts, sizeof parts / sizeof *parts);
    if (at)
        r->state = state_at(s, state);
    return size;
}

static struct attention attention_of(const struct sparse_attention_args *a, int64_t *bytes)
{
    struct attention s = {
        .a = a, .tasks = edge_tasks(a->adj.row, a->adj.col), .heads = edge_heads_of(a->q.cols, a->heads)};
    struct workspace unused;
    s.scale = (float)(1 / sqrt((double)s.heads.dh));
    s.state = 2 * round_up(a->heads, 4) + a->q.cols;
    s.per_thread = lay_out(&s, NULL, &unused);
    float *columns;
    const struct edge_part parts[] = {{&columns, edge_columns_size(&s.heads)},
                                      {&s.parts, 2 * s.tasks.count * s.state},
                                      {&s.workspaces, s.per_thread * a->call.threads}};
    *bytes = 4 * edge_lay_out(a->call.scratch, parts, 3);
    edge_find_columns(&s.heads, columns);
    return s;
}

/*
 * Whether all scores are within SAFE of zero. Bit patterns of floats without sign are ordered like the
 * floats.
 */
static bool all_safe(int64_t n, const float *scores, float scale)
{
    uint32_t most = 0;
#pragma omp simd reduction(max : most)
    for (int64_t u = 0; u < n; u++) {
        uint32_t bits = vm_bits(scores[u]) & 0x7fffffff;
        most = bits > most ? bits : most;
    }
    return most < 0x7f800000 && vm_float(most) * scale <= SAFE;
}

/* Multiplies head h of a spread row by a factor. */
static void scale_head(const struct edge_heads *s, float *spread, int64_t h, float factor)
{
    for (int64_t k = h * s->per * LANES; k < (h + 1) * s->per * LANES; k += LANES)
        store(spread + k, factor * load(spread + k));
}

/* Updates the tops with n more edges, and subtracts them. */
static void shift(const struct attention *s, struct workspace *r, int64_t n, bool first)
{
    int64_t heads = s->heads.heads;
    for (int64_t h = 0; h < heads; h++) {
        float *score = r->scores + h, top = first ? score[0] : r->state.top[h];
        for (int64_t e = 0; e < n; e++)
            top = score[e * heads] > top ? score[e * heads] : top;
        float correction = first ? 1 : vm_exp((r->state.top[h] - top) * s->scale);
        r->state.sum[h] *= correction;
        scale_head(&s->heads, r->state.y, h, correction);
        r->state.top[h] = top;
        for (int64_t e = 0; e < n; e++)
            score[e * heads] -= top;
    }
}

/*
 * p = exp(scale s) in place, up to the end of the last vector, and accumulated to the sums by head, which are
 * undefined beyond the last head.
 */
static void exponentials(int64_t n, int64_t heads, float *restrict s, float scale, float *restrict sum)
{
    for (int64_t u = 0; u < n * heads; u += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            s[u + l] = vm_half_exp(s[u + l] * scale + VM_LN2);
    }
    for (int64_t h = 0; h < heads; h += 4) {
        vec4 total = load4(sum + h);
        for (int64_t e = 0; e < n; e++)
            total += load4(s + e * heads + h);
        store4(sum + h, total);
    }
}

/* Edges first .. first + n - 1 of the current row. */
static void attend_edges(const struct attention *s, struct workspace *r, const float *q, int64_t first,
                         int64_t n, bool begins)
{
    const struct edge_heads *h = &s->heads;
    struct edge_rows k = edge_ends(h, &s->tasks, s->a->k, first, n, r->copies[0]);
    struct edge_rows v = edge_ends(h, &s->tasks, s->a->v, first, n, r->copies[1]);
    edge_dots(h, q, &k, n, &k, r->products, r->scores);
    if (!r->shifted)
        r->shifted = !all_safe(n * h->heads, r->scores, s->scale);
    if (r->shifted)
        shift(s, r, n, begins);
    exponentials(n, h->heads, r->scores, s->scale, r->state.sum);
    edge_weigh(h, r->scores, &v, n, &v, r->state.y);
}

static void put_lse(const struct attention *s, struct state from, int64_t i, bool empty)
{
    float *lse = row_of(s->a->lse, i);
    for (int64_t h = 0; h < s->heads.heads && lse; h++)
        lse[h] = empty ? 0 : from.top[h] * s->scale + logf(from.sum[h]);
}

/* y and lse of a row from the state of all its edges. */
static void finish(const struct attention *s, struct state from, int64_t i, bool empty)
{
    for (int64_t h = 0; h < s->heads.heads && !empty; h++)
        scale_head(&s->heads, from.y, h, 1 / from.sum[h]);
    edge_collect(&s->heads, from.y, row_of(s->a->y, i), false);
    put_lse(s, from, i, empty);
}

static void attend_piece(const struct attention *s, struct workspace *r, struct edge_piece p, float *part)
{
    int64_t sums = r->state.y - r->state.top, spread = edge_spread_size(&s->heads);
    const float *q = edge_spread(&s->heads, row_of(s->a->q, p.row), r->q);
    r->shifted = false;
    for (int64_t k = 0; k < sums + spread; k += 4)
        store4(r->state.top + k, (vec4){0});
    for (int64_t e = p.first; e < p.end; e += s->heads.most)
        attend_edges(s, r, q, e, min_of(s->heads.most, p.end - e), e == p.first);
    if (p.begins && p.ends)
        finish(s, r->state, p.row, p.first == p.end);
    else {
        struct state to = state_at(s, part);
        memcpy(to.top, r->state.top, (size_t)sums * sizeof(float));
        edge_collect(&s->heads, r->state.y, to.y, false);
    }
}

static void attend_task(const struct attention *s, int64_t t, struct workspace *r)
{
    float *parts = s->parts + 2 * t * s->state;
    struct edge_piece next = edge_first(&s->tasks, t + 1);
    for (struct edge_piece p = edge_first(&s->tasks, t); edge_before(p, next); p = edge_next(&s->tasks, p)) {
        struct edge_piece own = edge_clip(p, next);
        edge_fetch_row(s->a->q, p.row + EDGE_ROWS_AHEAD);
        edge_claim_row(s->a->y, p.row + EDGE_ROWS_AHEAD);
        attend_piece(s, r, own, own.ends ? parts : parts + s->state);
    }
}

/* Combines the end of a hub, which is the first piece of task t, with the `count` pieces before it. */
static void join(const struct attention *s, int64_t t, int64_t count)
{
    int64_t heads = s->heads.heads, dh = s->heads.dh, i = edge_first(&s->tasks, t).row;
    struct state all = state_at(s, s->parts + 2 * t * s->state);
    for (int64_t c = t - count; c < t; c++) {
        struct state part = state_at(s, s->parts + (2 * c + 1) * s->state);
        for (int64_t h = 0; h < heads; h++) {
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
            row_of(s->a->y, i)[k] = all.y[k] / all.sum[h];
    put_lse(s, all, i, false);
}

void CPU(sparse_attention)(const void *args)
{
    const struct sparse_attention_args *a = args;
    int64_t bytes;
    struct attention s = attention_of(a, &bytes);
    int threads = threads_for(&a->call, (s.tasks.nodes + s.tasks.edges) * a->q.cols, 1 << 14);
#pragma omp parallel num_threads(threads)
    {
        struct workspace work = {0};
        lay_out(&s, s.workspaces + omp_get_thread_num() * s.per_thread, &work);
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < s.tasks.count; t++)
            attend_task(&s, t, &work);
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < s.tasks.count; t++) {
            int64_t before = edge_pieces_before(&s.tasks, t);
            if (before)
                join(&s, t, before);
        }
    }
}

int64_t CPU(sparse_attention_scratch)(const void *args)
{
    int64_t bytes;
    attention_of(args, &bytes);
    return bytes;
}
