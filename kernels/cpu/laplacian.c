/*
 * The Laplacian applied to a block of columns: y_i (+)= alpha q_i sum of w_e (x_i - x_j) + beta x_i.
 *
 * A piece of a row (edges.h) is summed in registers, up to WIDE vectors of columns at a time, and the
 * remaining columns one by one. The last piece of a row writes it; a hub's earlier pieces are added when all
 * tasks are done. A thread has the same tasks in every call, so much of what it reads it wrote itself in the
 * previous call.
 */
#include "kernels/cpu/edges.h"
#include "kernels/cpu/vectors.h"

enum {
    WIDE = 4,
    AHEAD = 8,     /* edges by which prefetches run ahead */
    LINE = 16,     /* floats per cache line */
    NEAR = 1 << 19 /* floats of x and y that stay in a core's own cache */
};

struct step {
    struct edge_tasks tasks;
    struct mat y, x, q, w; /* w absent: ones */
    float alpha, beta;
    float *parts; /* scratch: D per task */
    bool near;    /* whether the only thread's own cache holds x and y: nothing to prefetch */
};

static float weight_of(const struct step *s, int64_t e)
{
    return *row_of(s->w, e);
}

static float scale_of(const struct step *s, int64_t row)
{
    return s->alpha * *row_of(s->q, row);
}

/* Columns k .. k + vectors * LANES - 1 of a piece: to its task's part if given, otherwise to the row. */
INLINE void step_columns(const struct step *s, int vectors, bool weighted, bool near, struct edge_piece p,
                         float *part, int64_t k)
{
    const int32_t *col = s->tasks.col;
    const float *x = (const float *)s->x.data + k;
    int64_t ld = s->x.ld, last = s->tasks.edges - 1;
    vec own[WIDE], sum[WIDE];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        own[v] = load(x + p.row * ld + v * LANES);
        sum[v] = (vec){0};
    }
    for (int64_t e = p.first; e < p.end; e++) {
        const float *from = x + col[e] * ld, *ahead = near ? NULL : x + col[min_of(e + AHEAD, last)] * ld;
        float weight = weighted ? weight_of(s, e) : 1;
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
    float scale = scale_of(s, p.row), *to = part ? part + k : row_of(s->y, p.row) + k;
    UNROLL
    for (int v = 0; v < vectors; v++) {
        if (!part)
            sum[v] = scale * sum[v] + s->beta * own[v];
        if (!part && s->y.acc)
            sum[v] += load(to + v * LANES);
        store(to + v * LANES, sum[v]);
    }
}

static void step_column(const struct step *s, struct edge_piece p, float *part, int64_t k)
{
    const float *x = (const float *)s->x.data + k;
    float own = x[p.row * s->x.ld], sum = 0;
    for (int64_t e = p.first; e < p.end; e++)
        sum += (s->w.data ? weight_of(s, e) : 1) * (own - x[s->tasks.col[e] * s->x.ld]);
    if (part) {
        part[k] = sum;
        return;
    }
    float *to = row_of(s->y, p.row) + k;
    *to = scale_of(s, p.row) * sum + s->beta * own + (s->y.acc ? *to : 0);
}

INLINE void step_piece(const struct step *s, bool weighted, bool near, struct edge_piece p, float *part)
{
    int64_t d = s->y.cols, k = 0;
    for (; k + 4 * LANES <= d; k += 4 * LANES)
        step_columns(s, 4, weighted, near, p, part, k);
    for (; k + 2 * LANES <= d; k += 2 * LANES)
        step_columns(s, 2, weighted, near, p, part, k);
    for (; k + LANES <= d; k += LANES)
        step_columns(s, 1, weighted, near, p, part, k);
    for (; k < d; k++)
        step_column(s, p, part, k);
}

/* Task t, from its first piece on. Returns the first piece of the next. */
INLINE struct edge_piece step_rows(const struct step *s, bool weighted, bool near, int64_t t,
                                   struct edge_piece p)
{
    struct edge_piece next = edge_first_from(&s->tasks, t + 1, p.row);
    for (; edge_before(p, next); p = edge_next(&s->tasks, p)) {
        struct edge_piece own = edge_clip(p, next);
        step_piece(s, weighted, near, own, own.ends ? NULL : s->parts + t * s->y.cols);
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

void CPU(laplacian)(const void *args)
{
    const struct laplacian_args *a = args;
    struct step s = {edge_tasks(a->adj.row, a->adj.col),
                     a->y,
                     a->x,
                     a->q,
                     a->w,
                     (float)a->alpha,
                     (float)a->beta,
                     a->call.scratch,
                     false};
    int threads = threads_for(&a->call, (s.tasks.nodes + s.tasks.edges) * a->y.cols, 1 << 17);
    s.near = threads == 1 && 2 * mat_size(a->x) <= NEAR;
    bool hubs = false;
#pragma omp parallel num_threads(threads)
    {
        struct edge_piece first = {0};
        int64_t of = -1;
#pragma omp for schedule(static) reduction(|| : hubs)
        for (int64_t t = 0; t < s.tasks.count; t++) {
            if (of != t)
                first = edge_first(&s.tasks, t);
            hubs = hubs || !first.begins;
            first = step_task(&s, t, first);
            of = t + 1;
        }
        if (hubs)
#pragma omp for schedule(static) nowait
            for (int64_t t = 0; t < s.tasks.count; t++)
                add_parts(&s, t);
    }
}

int64_t CPU(laplacian_scratch)(const void *args)
{
    const struct laplacian_args *a = args;
    return float_bytes(edge_tasks(a->adj.row, a->adj.col).count * a->x.cols);
}
