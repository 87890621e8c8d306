/*
 * Aggregation over edges. x, y: N x D. Rows list edges by receiver; in the backward, where x is dy and y is
 * dx, by sender.
 *
 *   y_i (+)= self x_i + sum of x_j over the edges of row i
 *   y_i (+)= s_i (u_i x_i + sum of s_j x_j), [s, u] = w, N x 2, with weights
 *
 * A piece of a row is summed in registers, up to WIDE vectors of columns at a time. If D is not a multiple of
 * the vector width, the last vector overlaps the previous one and stores only the new columns.
 */
#include "kernels/cpu/edges.h"
#include "kernels/cpu/sum_lanes.h"
#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vectors.h"

#include <math.h>

enum {
    WIDE = 8,
    LINE = 16 /* floats per cache line */
};

struct sums {
    struct edge_tasks tasks;
    struct mat y, x, w; /* w may be absent */
    float self;         /* without w */
    float *parts;       /* scratch: D per task */
};

/* The destination of a piece: to (+)= scale (self x + sums); x is null if self x is not to be added. */
struct row_target {
    float *to;
    const float *x;
    float self, scale;
    bool acc;
};

/*
 * Columns k .. k + vectors * LANES - 1 of a piece, without storing the first `skip`. `weighted` and `vectors`
 * are compile-time constants after inlining.
 */
INLINE void sum_columns(const struct sums *s, bool weighted, int vectors, struct edge_piece p,
                        struct row_target o, int64_t k, int64_t skip)
{
    const int32_t *col = s->tasks.col;
    const float *x = (const float *)s->x.data + k, *w = s->w.data;
    int64_t ld = s->x.ld, last = s->tasks.edges - 1;
    const float *self = o.x ? o.x + k : NULL;
    vec sum[WIDE];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        sum[v] = (vec){0};
        if (self)
            sum[v] += o.self * load(self + v * LANES);
    }
    for (int64_t e = p.first; e < p.end; e++) {
        const float *from = x + col[e] * ld,
                    *ahead = x + col[min_of(e + edges_ahead(vectors * LANES), last)] * ld;
        float weight = weighted ? w[col[e] * s->w.ld] : 1;
        UNROLL
        for (int v = 0; v < vectors; v++) {
            if (v * LANES % LINE == 0)
                __builtin_prefetch(ahead + v * LANES);
            if (weighted)
                sum[v] += weight * load(from + v * LANES);
            else
                sum[v] += load(from + v * LANES);
        }
    }
    UNROLL
    for (int v = 0; v < vectors && weighted; v++)
        sum[v] *= o.scale;
    for (; skip > 0 && skip < LANES; skip++)
        o.to[k + skip] = sum[0][skip] + (o.acc ? o.to[k + skip] : 0);
    UNROLL
    for (int v = 0; v < vectors && !skip; v++) {
        float *to = o.to + k + v * LANES;
        if (o.acc)
            sum[v] += load(to);
        store(to, sum[v]);
    }
}

/* A piece narrower than a vector. */
static void sum_narrow(const struct sums *s, struct edge_piece p, struct row_target o)
{
    int64_t d = s->y.cols;
    float sum[LANES];
    for (int64_t k = 0; k < d; k++)
        sum[k] = o.x ? o.self * o.x[k] : 0;
    for (int64_t e = p.first; e < p.end; e++) {
        const float *x = row_of(s->x, s->tasks.col[e]), *w = row_of(s->w, s->tasks.col[e]);
        for (int64_t k = 0; k < d; k++)
            sum[k] += (w ? w[0] : 1) * x[k];
    }
    for (int64_t k = 0; k < d; k++)
        o.to[k] = (o.acc ? o.to[k] : 0) + o.scale * sum[k];
}

INLINE void sum_piece(const struct sums *s, bool weighted, struct edge_piece p, struct row_target o)
{
    int64_t d = s->y.cols, k = 0;
    for (; k + 8 * LANES <= d; k += 8 * LANES)
        sum_columns(s, weighted, 8, p, o, k, 0);
    for (; k + 4 * LANES <= d; k += 4 * LANES)
        sum_columns(s, weighted, 4, p, o, k, 0);
    for (; k + 2 * LANES <= d; k += 2 * LANES)
        sum_columns(s, weighted, 2, p, o, k, 0);
    for (; k + LANES <= d; k += LANES)
        sum_columns(s, weighted, 1, p, o, k, 0);
    if (k < d && k > 0)
        sum_columns(s, weighted, 1, p, o, d - LANES, k - (d - LANES));
    else if (k < d)
        sum_narrow(s, p, o);
}

/* A hub's pieces are scaled one by one, and then added. */
static struct row_target target_of(const struct sums *s, int64_t t, struct edge_piece p)
{
    const float *w = row_of(s->w, p.row);
    struct row_target o = {.to = s->parts + t * s->y.cols, .self = s->self, .scale = 1};
    if (w) {
        o.scale = w[0];
        o.self = w[1];
    }
    if (p.ends) {
        o.to = row_of(s->y, p.row);
        o.x = o.self != 0 && p.row < s->x.rows ? row_of(s->x, p.row) : NULL;
        o.acc = s->y.acc;
    }
    return o;
}

static void sum_task(const void *sums, int64_t t, void *unused)
{
    const struct sums *s = sums;
    (void)unused;
    struct edge_piece next = edge_first(&s->tasks, t + 1);
    for (struct edge_piece p = edge_first(&s->tasks, t); edge_before(p, next); p = edge_next(&s->tasks, p)) {
        struct edge_piece own = edge_clip(p, next);
        struct row_target o = target_of(s, t, own);
        if (s->w.data)
            sum_piece(s, true, own, o);
        else
            sum_piece(s, false, own, o);
    }
}

static void aggregate(const struct call *call, struct mat row, struct mat col, struct sums s)
{
    s.tasks = edge_tasks(row, col);
    struct task_queue *queues = call->scratch;
    s.parts = (float *)(queues + call->threads);
    int64_t d = s.y.cols;
    int threads = threads_for(call, (s.tasks.nodes + s.tasks.edges) * d, 1 << 13);
#pragma omp parallel num_threads(threads)
    {
        tasks_run(queues, s.tasks.count, &s, NULL, sum_task);
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < s.tasks.count; t++) {
            int64_t before = edge_pieces_before(&s.tasks, t);
            if (before)
                add_accumulators(d, row_of(s.y, edge_first(&s.tasks, t).row), true,
                                 s.parts + (t - before) * d, before, d);
        }
    }
}

static int64_t scratch_bytes(const struct call *call, struct mat row, struct mat col, int64_t d)
{
    return float_bytes(task_queues_size(call->threads) + edge_tasks(row, col).count * d);
}

void CPU(spmm)(const void *args)
{
    const struct spmm_args *a = args;
    aggregate(&a->call, a->adj.row, a->adj.col,
              (struct sums){.y = a->y, .x = a->x, .w = a->w, .self = (float)a->self});
}

int64_t CPU(spmm_scratch)(const void *args)
{
    const struct spmm_args *a = args;
    return scratch_bytes(&a->call, a->adj.row, a->adj.col, a->x.cols);
}

void CPU(spmm_backward)(const void *args)
{
    const struct spmm_backward_args *a = args;
    aggregate(&a->call, a->adj.out_row, a->adj.out_col,
              (struct sums){.y = a->dx, .x = a->dy, .w = a->w, .self = (float)a->self});
}

int64_t CPU(spmm_backward_scratch)(const void *args)
{
    const struct spmm_backward_args *a = args;
    return scratch_bytes(&a->call, a->adj.out_row, a->adj.out_col, a->dy.cols);
}

/*
 * The edges from node i to itself, of a row of the `edges`, as a sum over lanes: whole vectors also look at
 * the next rows, so that nearly all loops end after one.
 */
INLINE vec loops_of(const int32_t *col, int64_t first, int64_t end, int64_t edges, int64_t i)
{
    vec loops = {0};
    int64_t e = first;
    vm_ints lane;
    for (int l = 0; l < LANES; l++)
        lane[l] = l;
    for (; e < end && e + LANES <= edges; e += LANES) {
        vm_ints ends = (vm_ints)load((const float *)(const void *)(col + e));
        vm_ints found = (ends == (int32_t)i) & (lane < (int32_t)min_of(end - e, LANES));
        loops += (vec)(found & (int32_t)vm_bits(1));
    }
    for (; e < end; e++)
        loops[0] += col[e] == i;
    return loops;
}

/* w_i = [s, (1 - loops) s], s = (1 + edges from others)^-1/2, of LANES nodes, or fewer, from `first` on. */
static void weigh_nodes(const struct gcn_weights_args *a, int64_t first)
{
    const int64_t *row = (const int64_t *)a->adj.row.data + first;
    int64_t n = min_of(LANES, a->w.rows - first), edges = a->adj.col.rows;
    vec found[LANES] = {{0}};
    float loops[LANES], s[LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        found[i] = loops_of(a->adj.col.data, row[i], row[i + 1], edges, first + i);
        s[i] = (float)(row[i + 1] - row[i]);
    }
    store(loops, sum_lanes(found));
#pragma omp simd
    for (int l = 0; l < LANES; l++)
        s[l] = 1 / sqrtf(1 + s[l] - loops[l]);
    for (int64_t i = 0; i < n; i++) {
        row_of(a->w, first + i)[0] = s[i];
        row_of(a->w, first + i)[1] = (1 - loops[i]) * s[i];
    }
}

void CPU(gcn_weights)(const void *args)
{
    const struct gcn_weights_args *a = args;
    int threads = threads_for(&a->call, a->w.rows + a->adj.col.rows, 1 << 15);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < a->w.rows; first += LANES)
        weigh_nodes(a, first);
}
