/*
 * Chebyshev polynomials of the Laplacian, applied to a block of columns; kernels/ref/chebyshev.c has the
 * mathematics. All steps are in one parallel region.
 *
 * A piece of a row (edges.h) is summed in registers, up to WIDE vectors of columns at a time, and the
 * remaining columns one by one. The last piece of a row writes it; a hub's earlier pieces are added when all
 * tasks are done. A thread has the same tasks in every step and every call, so much of what it reads it wrote
 * itself in the step before.
 */
#include "kernels/cpu/barrier.h"
#include "kernels/cpu/edges.h"
#include "kernels/cpu/vectors.h"

#include <limits.h>
#include <omp.h>
#include <string.h>

enum {
    WIDE = 4,
    AHEAD = 8,     /* edges by which prefetches run ahead */
    LINE = 16,     /* floats per cache line */
    NEAR = 1 << 23 /* floats of x and y: a cache holds so many, and prefetches cost more than they save */
};

struct step {
    struct edge_tasks tasks;
    struct mat y, x, old, q, w; /* y = S x - old, S x if there is no old; w absent: ones */
    float alpha, beta;
    float *parts; /* scratch: D per task */
    bool near;    /* whether x and y are in a cache, and prefetches cost more than they save */
};

static float weight_of(const struct step *s, int64_t e)
{
    return *row_of(s->w, e);
}

static float scale_of(const struct step *s, int64_t row)
{
    return s->alpha * *row_of(s->q, row);
}

/* Successive rows, whole, or a piece of a single one, whose sums go to `part` unless it ends the row. */
struct stretch {
    struct edge_piece piece; /* the first row's */
    int64_t rows;
    float *part;
};

static int64_t end_of(const struct step *s, const struct stretch *t, int64_t i)
{
    return t->rows > 1 ? s->tasks.row[t->piece.row + i + 1] : t->piece.end;
}

/* Columns k .. k + vectors * LANES - 1. */
INLINE void step_columns(const struct step *all, int vectors, bool weighted, bool near,
                         const struct stretch *t, int64_t k)
{
    const struct step s = *all; /* no store can change it */
    const int32_t *col = s.tasks.col;
    const float *x = (const float *)s.x.data + k;
    int64_t ld = s.x.ld, last = s.tasks.edges - 1, e = t->piece.first;
    for (int64_t i = 0; i < t->rows; i++) {
        int64_t row = t->piece.row + i, end = end_of(&s, t, i);
        vec own[WIDE], sum[WIDE];
        UNROLL
        for (int v = 0; v < vectors; v++) {
            own[v] = load(x + row * ld + v * LANES);
            sum[v] = (vec){0};
        }
        for (; e < end; e++) {
            const float *from = x + col[e] * ld, *ahead = near ? NULL : x + col[min_of(e + AHEAD, last)] * ld;
            float weight = weighted ? weight_of(&s, e) : 1;
            UNROLL
            for (int v = 0; v < vectors; v++) {
                if (!near && v * LANES % LINE == 0)
                    __builtin_prefetch(ahead + v * LANES);
                vec d = own[v] - load(from + v * LANES);
                if (weighted)
                    sum[v] += weight * d;
                else
                    sum[v] += d;
            }
        }
        float scale = scale_of(&s, row), *to = t->part ? t->part + k : row_of(s.y, row) + k;
        UNROLL
        for (int v = 0; v < vectors; v++) {
            if (!t->part)
                sum[v] = scale * sum[v] + s.beta * own[v];
            if (!t->part && s.old.data)
                sum[v] -= load(row_of(s.old, row) + k + v * LANES);
            store(to + v * LANES, sum[v]);
        }
    }
}

static void step_column(const struct step *s, const struct stretch *t, int64_t k)
{
    const float *x = (const float *)s->x.data + k;
    for (int64_t i = 0, e = t->piece.first; i < t->rows; i++) {
        int64_t row = t->piece.row + i, end = end_of(s, t, i);
        float own = x[row * s->x.ld], sum = 0;
        for (; e < end; e++)
            sum += (s->w.data ? weight_of(s, e) : 1) * (own - x[s->tasks.col[e] * s->x.ld]);
        float next = scale_of(s, row) * sum + s->beta * own - (s->old.data ? row_of(s->old, row)[k] : 0);
        if (t->part)
            t->part[k] = sum;
        else
            row_of(s->y, row)[k] = next;
    }
}

INLINE void step_stretch(const struct step *s, bool weighted, bool near, struct stretch t)
{
    int64_t d = s->y.cols, k = 0;
    for (; k + 4 * LANES <= d; k += 4 * LANES)
        step_columns(s, 4, weighted, near, &t, k);
    for (; k + 2 * LANES <= d; k += 2 * LANES)
        step_columns(s, 2, weighted, near, &t, k);
    for (; k + LANES <= d; k += LANES)
        step_columns(s, 1, weighted, near, &t, k);
    for (; k < d; k++)
        step_column(s, &t, k);
}

/* Task t, from its first piece on. Returns the first piece of the next. */
INLINE struct edge_piece step_rows(const struct step *s, bool weighted, bool near, int64_t t,
                                   struct edge_piece p)
{
    struct edge_piece next = edge_first_from(&s->tasks, t + 1, p.row);
    for (; edge_before(p, next); p = edge_next(&s->tasks, p)) {
        p = edge_clip(p, next);
        int64_t rows = p.begins && p.ends ? next.row - p.row : 1;
        step_stretch(s, weighted, near, (struct stretch){p, rows, p.ends ? NULL : s->parts + t * s->y.cols});
        p.row += rows - 1;
        p.end = s->tasks.row[p.row + 1];
    }
    return next;
}

static struct edge_piece step_task(const struct step *s, int64_t t, struct edge_piece p)
{
    if (s->near)
        return s->w.data ? step_rows(s, true, true, t, p) : step_rows(s, false, true, t, p);
    return s->w.data ? step_rows(s, true, false, t, p) : step_rows(s, false, false, t, p);
}

/* If task t has the end of a hub, adds its earlier pieces. */
static void add_parts(const struct step *s, int64_t t)
{
    int64_t d = s->y.cols, row = edge_first(&s->tasks, t).row;
    for (int64_t before = edge_pieces_before(&s->tasks, t); before > 0; before--) {
        float *to = row_of(s->y, row), scale = scale_of(s, row);
        const float *from = s->parts + (t - before) * d;
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            to[k] += scale * from[k];
    }
}

/* The calling thread's tasks. Returns whether one of them begins within a hub. */
static bool step_tasks(const struct step *s, int thread, int threads)
{
    int64_t t = s->tasks.count * thread / threads, end = s->tasks.count * (thread + 1) / threads;
    struct edge_piece first = edge_first(&s->tasks, t);
    bool hubs = false;
    for (; t < end; t++) {
        hubs = hubs || !first.begins;
        first = step_task(s, t, first);
    }
    return hubs;
}

static void add_hubs(const struct step *s, int thread, int threads)
{
    int64_t t = s->tasks.count * thread / threads, end = s->tasks.count * (thread + 1) / threads;
    for (; t < end; t++)
        add_parts(s, t);
}

/* What the threads of a call share: whether there are hubs, and the step after which to stop. */
struct team {
    struct barrier barrier;
    atomic_bool hubs;
    atomic_int last;
};

/* Step m. The last one writes y, the one before z, and so on in turns. */
static void choose_operands(const struct chebyshev_args *a, struct step *s, int m)
{
    bool last = (a->degree - m) % 2 == 0;
    struct mat own = last ? a->y : a->z, other = last ? a->z : a->y, none = {0};
    s->x = m == 1 ? a->x : other;
    s->y = own;
    s->old = m == 1 ? none : m == 2 ? a->x : own;
    s->alpha = (float)((m == 1 ? 1 : 2) * a->alpha);
    s->beta = (float)((m == 1 ? 1 : 2) * a->beta);
}

/* The calling thread's share of all steps. */
static void take_steps(const struct chebyshev_args *a, struct step s, struct team *team)
{
    int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    for (int m = 1; m <= atomic_load(&team->last); m++) {
        choose_operands(a, &s, m);
        if (step_tasks(&s, thread, threads))
            atomic_store(&team->hubs, true);
        if (thread == 0 && is_cancelled(a->call.cancel))
            atomic_store(&team->last, m);
        barrier_wait(&team->barrier, threads);
        if (!atomic_load(&team->hubs))
            continue;
        add_hubs(&s, thread, threads);
        barrier_wait(&team->barrier, threads);
    }
    int64_t first = row_share(a->x.rows, thread, threads), end = row_share(a->x.rows, thread + 1, threads);
    for (int64_t i = first; a->degree == 1 && i < end; i++)
        memcpy(row_of(a->z, i), row_of(a->x, i), (size_t)a->x.cols * sizeof(float));
}

void CPU(chebyshev)(const void *args)
{
    const struct chebyshev_args *a = args;
    struct step s = {.tasks = edge_tasks(a->adj.row, a->adj.col),
                     .q = a->q,
                     .w = a->w,
                     .parts = a->call.scratch,
                     .near = 2 * mat_size(a->x) <= NEAR};
    int64_t entries = (s.tasks.nodes + s.tasks.edges) * a->x.cols;
    int threads = threads_for(&a->call, a->degree * entries, 1 << 17);
    struct team team = {.last = a->degree};
#pragma omp parallel num_threads(threads)
    take_steps(a, s, &team);
}

int64_t CPU(chebyshev_scratch)(const void *args)
{
    const struct chebyshev_args *a = args;
    return float_bytes(edge_tasks(a->adj.row, a->adj.col).count * a->x.cols);
}
