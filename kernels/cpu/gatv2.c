/*
 * GATv2's attention over edges (edge_softmax.h), without the loops of the graph, but with one at each node:
 *
 *   s_e = leaky(r_i + l_j + c_e) . att    y_i = b + sum exp(s_e) l_j / sum exp(s_e)    lse_i = log sum
 * exp(s_e)
 *
 * per head, with leaky(x) = x for x > 0, otherwise slope x, and for the loop `loop` instead of c. l, r, y,
 * loop: N x D, c: E x D, att, b: 1 x D, lse: N x H.
 */
#include "kernels/gatv2.h"
#include "kernels/cpu/edge_loops.h"
#include "kernels/cpu/edge_softmax.h"

#include <omp.h>

struct attention {
    const struct edge_gatv2_args *a;
    struct edge_tasks tasks;
    struct edge_softmax softmax;
    const float *att;         /* a spread row */
    float *copy, *workspaces; /* scratch: of att; per thread */
    int64_t per_thread;
};

/* Scratch of a thread. */
struct workspace {
    struct edge_work softmax;
    float *ends, *sums; /* sums: l_j + c_e of the current edges, if there is a c */
};

static int64_t lay_out(const struct attention *s, float *at, struct workspace *r)
{
    int64_t size = edge_work_lay_out(&s->softmax, at, &r->softmax);
    const struct edge_heads *h = &s->softmax.heads;
    const struct edge_part parts[] = {{&r->ends, looped_size(h)},
                                      {&r->sums, mat_present(s->a->loop) ? looped_sums_size(h) : 0}};
    return size + edge_lay_out(at ? at + size : NULL, parts, 2);
}

static struct attention attention_of(const struct edge_gatv2_args *a, int64_t *bytes)
{
    struct attention s = {.a = a,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .softmax = edge_softmax_of(a->y, a->lse, a->heads, 1)};
    struct workspace unused;
    s.softmax.bias = a->b.data;
    s.per_thread = lay_out(&s, NULL, &unused);
    float *columns;
    const struct edge_part parts[] = {{&columns, edge_columns_size(&s.softmax.heads)},
                                      {&s.copy, edge_spread_size(&s.softmax.heads)},
                                      {&s.softmax.parts, 2 * s.tasks.count * s.softmax.state},
                                      {&s.workspaces, s.per_thread * a->call.threads}};
    *bytes = 4 * edge_lay_out(a->call.scratch, parts, sizeof parts / sizeof *parts);
    edge_find_columns(&s.softmax.heads, columns);
    return s;
}

static void attend_piece(const struct attention *s, struct workspace *w, struct edge_piece p, int64_t t)
{
    const struct edge_heads *h = &s->softmax.heads;
    struct edge_work *r = &w->softmax;
    struct edge_leaky leaky = {edge_spread(h, row_of(s->a->r, p.row), r->own), s->att, (float)s->a->slope};
    struct looped_edges list = looped_begin(h, p, w->ends);
    edge_softmax_begin(&s->softmax, r);
    for (bool first = true; looped_more(&list, &s->tasks, p, h->most); first = false) {
        struct edge_rows l = looped_rows(h, &list, s->a->l, r->copies[0]), sums = l;
        if (mat_present(s->a->loop))
            sums = looped_sums(h, &list, s->a->l, s->a->c, s->a->loop, NULL, w->sums);
        edge_leaky_dots(h, leaky, &sums, list.count, r->products, r->scores);
        edge_softmax_add(&s->softmax, r, 0, list.count, first, &l);
    }
    if (p.begins && p.ends)
        edge_softmax_end(&s->softmax, r, p.row, false);
    else
        edge_softmax_keep(&s->softmax, r, edge_part_of(&s->softmax, t, p.ends));
}

static void attend_task(const struct attention *s, int64_t t, struct workspace *r)
{
    struct edge_piece next = edge_first(&s->tasks, t + 1);
    for (struct edge_piece p = edge_first(&s->tasks, t); edge_before(p, next); p = edge_next(&s->tasks, p)) {
        edge_fetch_row(s->a->r, p.row + EDGE_ROWS_AHEAD);
        edge_claim_row(s->a->y, p.row + EDGE_ROWS_AHEAD);
        attend_piece(s, r, edge_clip(p, next), t);
    }
}

static void attend_all(const struct edge_gatv2_args *a)
{
    int64_t bytes;
    struct attention s = attention_of(a, &bytes);
    s.att = edge_spread(&s.softmax.heads, a->att.data, s.copy);
    int threads = threads_for(&a->call, (s.tasks.nodes + s.tasks.edges) * a->y.cols, 1 << 14);
#pragma omp parallel num_threads(threads)
    {
        struct workspace work = {0};
        lay_out(&s, s.workspaces + omp_get_thread_num() * s.per_thread, &work);
#pragma omp for schedule(static)
        for (int64_t t = 0; t < s.tasks.count; t++)
            attend_task(&s, t, &work);
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < s.tasks.count; t++) {
            int64_t before = edge_pieces_before(&s.tasks, t);
            if (before)
                edge_softmax_join(&s.softmax, edge_first(&s.tasks, t).row, t, before);
        }
    }
}

void CPU(gatv2)(const void *args)
{
    struct edge_gatv2_args with = edge_gatv2_of(args);
    attend_all(&with);
}

void CPU(edge_gatv2)(const void *args)
{
    attend_all(args);
}

int64_t CPU(gatv2_scratch)(const void *args)
{
    struct edge_gatv2_args with = edge_gatv2_of(args);
    return CPU(edge_gatv2_scratch)(&with);
}

int64_t CPU(edge_gatv2_scratch)(const void *args)
{
    int64_t bytes;
    attention_of(args, &bytes);
    return bytes;
}
