/*
 * PNA's aggregations of a_i + b_j over the edges j -> i, and their backward. All matrices: N x D.
 *
 *   sum_i = n a_i + sum b_j    mean_i = sum_i / n    max_i = a_i + top_i, top_i = max b_j    n edges to i
 *   da_i (+)= n dsum_i + dmean_i + dmax_i
 *   db_j (+)= sum over edges from j of base_i + (share_i where b_j is top_i, otherwise 0)
 *   base_i = dsum_i + dmean_i / n    share_i = dmax_i / number of edges to i with b_j = top_i
 *
 * Without edges all are 0. A piece of a row is reduced in registers, up to WIDE vectors of columns at a time.
 * If D is not a multiple of the vector width, the last vector overlaps the previous one. The backward counts
 * ties in a pass over receivers, which leaves base and share side by side for a pass over senders.
 */
#include "kernels/cpu/edges.h"
#include "kernels/cpu/vectors.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    WIDE = 4,
    LINE = 16 /* floats per cache line */
};

/* What is reduced over the edges of a row, to one or two rows of D floats. */
enum reduction {
    STATISTICS, /* sum and maximum of b_j */
    TIES,       /* the number of b_j that equal the row's top */
    SHARES,     /* the sum of base_i + share_i where the row's b is top_i, i: the other ends */
};

struct reduce {
    enum reduction kind;
    struct edge_tasks tasks;
    struct mat b, top, shares; /* shares: N x 2 D, [base, share] */
    float *parts; /* scratch: 2 D for the first and the last piece of each task; for each thread */
};

struct reduced {
    float *sum, *top;
};

/* NaN if one of them is. */
INLINE vec larger(vec a, vec b)
{
    vm_ints above = (a > b) | (a != a);
    return (vec)(((vm_ints)a & above) | ((vm_ints)b & ~above));
}

INLINE vec where_equal(vec a, vec b, vec value)
{
    vm_ints equal = a == b;
    return (vec)((vm_ints)value & equal);
}

INLINE void fetch(const float *row, int vectors)
{
    UNROLL
    for (int v = 0; v < vectors; v++)
        if (v * LANES % LINE == 0)
            __builtin_prefetch(row + v * LANES);
}

/* Columns k .. of a piece of a row whose `own` is its top or b; what follows `r` is constant after inlining.
 */
INLINE void reduce_columns(const struct reduce *r, enum reduction kind, int vectors, struct edge_piece p,
                           const float *own, struct reduced to, int64_t k)
{
    const int32_t *col = r->tasks.col;
    const float *b = (const float *)r->b.data + k;
    const float *tops = kind == SHARES ? (const float *)r->top.data + k : NULL;
    const float *bases = kind == SHARES ? (const float *)r->shares.data + k : NULL;
    const float *shares = kind == SHARES ? bases + r->b.cols : NULL;
    int64_t last = r->tasks.edges - 1;
    vec sum[WIDE], top[WIDE], its[WIDE];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        sum[v] = (vec){0};
        top[v] = (vec){0} - INFINITY;
        if (kind != STATISTICS)
            its[v] = load(own + k + v * LANES);
    }
    int rows = kind == SHARES ? 3 : 1;
    for (int64_t e = p.first; e < p.end; e++) {
        int64_t j = col[e], ahead = col[min_of(e + edges_ahead(rows * vectors * LANES), last)];
        if (kind == SHARES) {
            fetch(bases + ahead * r->shares.ld, vectors);
            fetch(shares + ahead * r->shares.ld, vectors);
            fetch(tops + ahead * r->top.ld, vectors);
        } else
            fetch(b + ahead * r->b.ld, vectors);
        UNROLL
        for (int v = 0; v < vectors; v++) {
            int64_t c = v * LANES;
            if (kind == SHARES) {
                vec share = load(shares + j * r->shares.ld + c);
                sum[v] += load(bases + j * r->shares.ld + c);
                sum[v] += where_equal(its[v], load(tops + j * r->top.ld + c), share);
            } else if (kind == TIES) {
                sum[v] += where_equal(its[v], load(b + j * r->b.ld + c), (vec){0} + 1);
            } else {
                vec x = load(b + j * r->b.ld + c);
                sum[v] += x;
                top[v] = larger(x, top[v]);
            }
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        store(to.sum + k + v * LANES, sum[v]);
        if (kind == STATISTICS)
            store(to.top + k + v * LANES, top[v]);
    }
}

/* Column k of a piece. */
static void reduce_column(const struct reduce *r, struct edge_piece p, const float *own, struct reduced to,
                          int64_t k)
{
    float sum = 0, top = -INFINITY;
    for (int64_t e = p.first; e < p.end; e++) {
        int64_t j = r->tasks.col[e];
        const float *shares = row_of(r->shares, j);
        float b = row_of(r->b, j)[k];
        if (r->kind == SHARES)
            sum += shares[k] + (own[k] == row_of(r->top, j)[k] ? shares[r->b.cols + k] : 0);
        else
            sum += r->kind == STATISTICS ? b : own[k] == b;
        top = vm_larger(b, top);
    }
    to.sum[k] = sum;
    to.top[k] = top;
}

INLINE void reduce_piece(const struct reduce *r, enum reduction kind, struct edge_piece p, struct reduced to)
{
    int64_t d = r->b.cols, k = 0;
    const float *own = row_of(kind == TIES ? r->top : r->b, p.row);
    for (; k + 4 * LANES <= d; k += 4 * LANES)
        reduce_columns(r, kind, 4, p, own, to, k);
    for (; k + LANES <= d; k += LANES)
        reduce_columns(r, kind, 1, p, own, to, k);
    if (k < d && k > 0)
        reduce_columns(r, kind, 1, p, own, to, d - LANES);
    for (; k < d && d < LANES; k++)
        reduce_column(r, p, own, to, k);
}

static void reduce_any(const struct reduce *r, struct edge_piece p, struct reduced to)
{
    switch (r->kind) {
    case STATISTICS:
        reduce_piece(r, STATISTICS, p, to);
        break;
    case TIES:
        reduce_piece(r, TIES, p, to);
        break;
    case SHARES:
        reduce_piece(r, SHARES, p, to);
        break;
    }
}

static struct reduced part_at(const struct reduce *r, int64_t number)
{
    int64_t d = r->b.cols;
    return (struct reduced){r->parts + 2 * d * number, r->parts + 2 * d * number + d};
}

/* Task t's first piece, which ends a hub, or its last, which does not; a whole row: the thread's own. */
static struct reduced place_of(const struct reduce *r, int64_t t, struct edge_piece p)
{
    bool whole = p.begins && p.ends;
    return part_at(r, whole ? 2 * r->tasks.count + omp_get_thread_num() : 2 * t + !p.ends);
}

/* The whole of a hub that ends in task t: adds the `count` pieces before it. */
static struct reduced join(const struct reduce *r, int64_t t, int64_t count)
{
    int64_t d = r->b.cols;
    struct reduced all = part_at(r, 2 * t);
    for (int64_t c = t - count; c < t; c++) {
        struct reduced part = part_at(r, 2 * c + 1);
        add_accumulators(d, all.sum, true, part.sum, 1, 0);
        for (int64_t k = 0; k < d && r->kind == STATISTICS; k++)
            all.top[k] = part.top[k] > all.top[k] ? part.top[k] : all.top[k];
    }
    return all;
}

static int64_t parts_size(const struct edge_tasks *tasks, int64_t d, int threads)
{
    return (2 * tasks->count + threads) * 2 * d;
}

/* Reduces every row, and passes it to `finish`. To be called by all threads of a parallel region. */
INLINE void reduce_all(const struct reduce *r,
                       void (*finish)(const void *context, int64_t i, struct reduced from),
                       const void *context)
{
#pragma omp for schedule(static)
    for (int64_t t = 0; t < r->tasks.count; t++) {
        struct edge_piece next = edge_first(&r->tasks, t + 1), p = edge_first(&r->tasks, t);
        for (; edge_before(p, next); p = edge_next(&r->tasks, p)) {
            struct edge_piece own = edge_clip(p, next);
            struct reduced to = place_of(r, t, own);
            reduce_any(r, own, to);
            if (own.begins && own.ends)
                finish(context, own.row, to);
        }
    }
#pragma omp for schedule(static)
    for (int64_t t = 0; t < r->tasks.count; t++) {
        int64_t before = edge_pieces_before(&r->tasks, t);
        if (before)
            finish(context, edge_first(&r->tasks, t).row, join(r, t, before));
    }
}

static int64_t edges_to(struct edges adj, int64_t i)
{
    const int64_t *row = adj.row.data;
    return row[i + 1] - row[i];
}

/* --- forward */

static void put_statistics(const void *context, int64_t i, struct reduced from)
{
    const struct pna_pool_args *a = context;
    int64_t d = a->sum.cols, edges = edges_to(a->adj, i);
    float *restrict sum = row_of(a->sum, i), *restrict max = row_of(a->max, i);
    float *restrict mean = row_of(a->mean, i), *top = row_of(a->top, i);
    const float *restrict own = row_of(a->a, i);
    float n = (float)edges, share = 1 / (float)max_of(1, edges);
    if (edges == 0)
        memset(from.top, 0, (size_t)d * sizeof *from.top);
    if (top)
        memcpy(top, from.top, (size_t)d * sizeof *top);
#pragma omp simd
    for (int64_t k = 0; k < d; k++) {
        sum[k] = n * own[k] + from.sum[k];
        mean[k] = sum[k] * share;
        max[k] = edges ? own[k] + from.top[k] : 0;
    }
}

static struct reduce statistics_of(const struct pna_pool_args *a)
{
    return (struct reduce){
        .kind = STATISTICS, .tasks = edge_tasks(a->adj.row, a->adj.col), .b = a->b, .parts = a->call.scratch};
}

void CPU(pna_pool)(const void *args)
{
    const struct pna_pool_args *a = args;
    struct reduce r = statistics_of(a);
    int threads = threads_for(&a->call, (r.tasks.nodes + r.tasks.edges) * a->b.cols, 1 << 15);
#pragma omp parallel num_threads(threads)
    reduce_all(&r, put_statistics, a);
}

int64_t CPU(pna_pool_scratch)(const void *args)
{
    const struct pna_pool_args *a = args;
    struct edge_tasks tasks = edge_tasks(a->adj.row, a->adj.col);
    return float_bytes(parts_size(&tasks, a->b.cols, a->call.threads));
}

/* --- backward */

struct gradients {
    const struct pna_pool_backward_args *a;
    struct reduce ties, sums;
};

static struct gradients gradients_of(const struct pna_pool_backward_args *a, int64_t *bytes)
{
    int64_t n = a->b.rows, d = a->b.cols;
    float *scratch = a->call.scratch;
    struct mat shares = {.data = scratch, .rows = n, .cols = 2 * d, .ld = 2 * d, .dtype = F32};
    struct reduce r = {.b = a->b, .top = a->top, .shares = shares};
    struct gradients s = {a, r, r};
    s.ties.kind = TIES;
    s.ties.tasks = edge_tasks(a->adj.row, a->adj.col);
    s.sums.kind = SHARES;
    s.sums.tasks = edge_tasks(a->adj.out_row, a->adj.out_col);
    int64_t before = float_bytes(2 * n * d);
    s.ties.parts = s.sums.parts = scratch ? scratch + before / 4 : NULL;
    *bytes = before + float_bytes(max_of(parts_size(&s.ties.tasks, d, a->call.threads),
                                         parts_size(&s.sums.tasks, d, a->call.threads)));
    return s;
}

/* base and share of row i, from the number of ties. */
static void put_shares(const void *context, int64_t i, struct reduced from)
{
    const struct gradients *s = context;
    int64_t d = s->a->b.cols, edges = edges_to(s->a->adj, i);
    float *restrict base = row_of(s->ties.shares, i), *restrict share = base + d;
    const float *restrict dsum = row_of(s->a->dsum, i), *restrict dmean = row_of(s->a->dmean, i);
    const float *restrict dmax = row_of(s->a->dmax, i);
    float part = 1 / (float)max_of(1, edges);
#pragma omp simd
    for (int64_t k = 0; k < d; k++) {
        base[k] = dsum[k] + dmean[k] * part;
        share[k] = dmax[k] / from.sum[k];
    }
}

static void put_db(const void *context, int64_t j, struct reduced from)
{
    const struct pna_pool_backward_args *a = ((const struct gradients *)context)->a;
    float *restrict db = row_of(a->db, j);
    bool acc = a->db.acc;
#pragma omp simd
    for (int64_t k = 0; k < a->b.cols; k++)
        db[k] = (acc ? db[k] : 0) + from.sum[k];
}

static void put_da(const struct pna_pool_backward_args *a, int64_t i)
{
    int64_t edges = edges_to(a->adj, i);
    float *restrict da = row_of(a->da, i), n = (float)edges;
    const float *restrict dsum = row_of(a->dsum, i), *restrict dmean = row_of(a->dmean, i);
    const float *restrict dmax = row_of(a->dmax, i);
    bool acc = a->da.acc;
#pragma omp simd
    for (int64_t k = 0; k < a->b.cols; k++)
        da[k] = (acc ? da[k] : 0) + (edges ? n * dsum[k] + dmean[k] + dmax[k] : 0);
}

void CPU(pna_pool_backward)(const void *args)
{
    const struct pna_pool_backward_args *a = args;
    int64_t bytes;
    struct gradients s = gradients_of(a, &bytes);
    int threads = threads_for(&a->call, (s.ties.tasks.nodes + s.ties.tasks.edges) * a->b.cols, 1 << 14);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < a->da.rows; i++)
            put_da(a, i);
        if (mat_present(a->db)) {
            reduce_all(&s.ties, put_shares, &s);
            reduce_all(&s.sums, put_db, &s);
        }
    }
}

int64_t CPU(pna_pool_backward_scratch)(const void *args)
{
    int64_t bytes;
    gradients_of(args, &bytes);
    return bytes;
}
