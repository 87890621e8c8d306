/*
 * Multi-head attention over the edges of a graph (edge_softmax.h):
 *
 *   s_e = q_i . k_j scale    y_i = sum exp(s_e) v_j / sum exp(s_e)    lse_i = log sum exp(s_e)    e: j -> i
 *
 * with scale = (D / H)^-1/2, per head; without edges y = lse = 0. q, k, v, y: N x D, lse: N x H.
 */
#include "kernels/cpu/edge_softmax.h"
#include "kernels/cpu/tasks.h"
#include "kernels/dropped.h"

struct attention {
    const struct sparse_attention_args *a;
    struct edge_tasks tasks;
    struct edge_softmax softmax;
    float *workspaces; /* scratch: per thread */
    int64_t per_thread;
    struct task_queue *queues;
};

static struct attention layout_of(const struct sparse_attention_args *a, int64_t *bytes)
{
    float scale = (float)(1 / sqrt((double)(a->q.cols / a->heads)));
    struct attention s = {.a = a,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .softmax = edge_softmax_of(a->y, a->lse, a->heads, scale)};
    struct edge_work unused;
    s.per_thread = edge_work_lay_out(&s.softmax, NULL, &unused);
    float *columns, *queues;
    const struct edge_part parts[] = {{&columns, edge_columns_size(&s.softmax.heads)},
                                      {&queues, task_queues_size(a->call.threads)},
                                      {&s.softmax.parts, 2 * s.tasks.count * s.softmax.state},
                                      {&s.workspaces, s.per_thread * a->call.threads}};
    *bytes = 4 * edge_lay_out(a->call.scratch, parts, sizeof parts / sizeof *parts);
    edge_find_columns(&s.softmax.heads, columns);
    s.queues = (struct task_queue *)(void *)queues;
    return s;
}

/* Edges first .. first + n - 1 of the current row. */
static void attend_edges(const struct attention *s, struct edge_work *r, const float *q, int64_t first,
                         int64_t n, bool begins)
{
    const struct edge_heads *h = &s->softmax.heads;
    struct edge_rows k = edge_ends(h, &s->tasks, s->a->k, first, n, r->copies[0]);
    struct edge_rows v = edge_ends(h, &s->tasks, s->a->v, first, n, r->copies[1]);
    edge_dots(h, q, &k, n, &k, r->products, r->scores);
    edge_softmax_add(&s->softmax, r, first, n, begins, &v);
}

static void attend_piece(const struct attention *s, struct edge_work *r, struct edge_piece p, int64_t t)
{
    int64_t most = s->softmax.heads.most;
    const float *q = edge_spread(&s->softmax.heads, row_of(s->a->q, p.row), r->own);
    edge_softmax_begin(&s->softmax, r);
    for (int64_t e = p.first; e < p.end; e += most)
        attend_edges(s, r, q, e, min_of(most, p.end - e), e == p.first);
    if (p.begins && p.ends)
        edge_softmax_end(&s->softmax, r, p.row, p.first == p.end);
    else
        edge_softmax_keep(&s->softmax, r, edge_part_of(&s->softmax, t, p.ends));
}

static void attend_task(const struct attention *s, int64_t t, struct edge_work *r)
{
    struct edge_piece next = edge_first(&s->tasks, t + 1);
    for (struct edge_piece p = edge_first(&s->tasks, t); edge_before(p, next); p = edge_next(&s->tasks, p)) {
        edge_fetch_row(s->a->q, p.row + EDGE_ROWS_AHEAD);
        edge_claim_row(s->a->y, p.row + EDGE_ROWS_AHEAD);
        attend_piece(s, r, edge_clip(p, next), t);
    }
}

static void attend_all(const struct sparse_attention_args *a, const struct mask *mask)
{
    int64_t bytes;
    struct attention s = layout_of(a, &bytes);
    s.softmax.mask = mask;
    int threads = threads_for(&a->call, (s.tasks.nodes + s.tasks.edges) * a->q.cols, 1 << 14);
#pragma omp parallel num_threads(threads)
    {
        struct edge_work work = {0};
        edge_work_lay_out(&s.softmax, s.workspaces + omp_get_thread_num() * s.per_thread, &work);
        tasks_begin(s.queues, s.tasks.count);
#pragma omp barrier
        for (struct task t = {0}; task_next(s.queues, s.tasks.count, &t);)
            attend_task(&s, t.number, &work);
#pragma omp barrier
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < s.tasks.count; t++) {
            int64_t before = edge_pieces_before(&s.tasks, t);
            if (before)
                edge_softmax_join(&s.softmax, edge_first(&s.tasks, t).row, t, before);
        }
    }
}

void CPU(sparse_attention)(const void *args)
{
    attend_all(args, NULL);
}

void CPU(dropout_sparse_attention)(const void *args)
{
    const struct dropout_sparse_attention_args *a = args;
    struct sparse_attention_args plain = sparse_attention_of(a);
    struct mask mask = mask_of(a->key, *(const double *)a->schedule.data, a->p);
    attend_all(&plain, &mask);
}

int64_t CPU(sparse_attention_scratch)(const void *args)
{
    int64_t bytes;
    layout_of(args, &bytes);
    return bytes;
}

int64_t CPU(dropout_sparse_attention_scratch)(const void *args)
{
    struct sparse_attention_args plain = sparse_attention_of(args);
    return CPU(sparse_attention_scratch)(&plain);
}
