/*
 * Backward of dense attention, with p recomputed from the saved lse (Dao et al. 2022):
 *
 *   p = exp(q k' scale - lse)    delta = row sums of dy * y    ds = p * (dy v' - delta) scale
 *   dq (+)= ds k    dk (+)= ds' q    dv (+)= p' dy
 *
 * A task is one head of one graph or, if heads and graphs are too few for many cores, one of `parts` ranges
 * of its keys: it loops over all queries, so dk and dv of its keys are private to it, and dq has an
 * accumulator per part; these are added in order. Keys are processed KEYS at a time and queries QUERIES at a
 * time, so that p and ds stay in the second-level cache. Keys may be rows of their own (attention+fold): then
 * a graph may have queries without keys, or keys without queries.
 *
 * With a bias, ds without scale is its gradient too, each entry of which one task writes once. A task then
 * has the heads of a cache line, so that bias and gradient pass through the caches once: it copies a tile of
 * the bias, a matrix per head, which the tile's ds overwrite. What follows of the bias, and where dbias will
 * be written, is prefetched while products are computed.
 *
 * With dropout, d(x) = x / (1 - p) where the pair is kept, otherwise 0: ds = p * (dy d(v') - delta) scale,
 * and dv (+)= d(p)' dy.
 *
 * Where scores are large, one key mostly has all of p, and ds is 0 there: q and k, which are large too,
 * would multiply any error. So lse is not rounded in rows where it is beyond FAR, scores have the bits that
 * they had in the forward, and delta is summed as a product of dy v' is, of which y then is the v.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/key_weights.h"
#include "kernels/cpu/mask.h"
#include "kernels/cpu/pair_bias.h"
#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/softmax_base.h"

#include <math.h>
#include <string.h>

#define FAR 43.0f /* lse to base 2: up to here its rounding changes p by 2e-6 */

enum {
    QUERIES = 96,
    BIASED = 24, /* the same with a bias */
    KEYS = 256,
    LD = KEYS + 16, /* of p and ds: not a power of two, since columns are read too */
    TASKS = 32,     /* target number; each has at least KEYS keys, with a bias half as many */
    GROUP = 16,     /* heads of a task with a bias, at most: a cache line */
};

struct head_layout {
    const struct attention_backward_args *a;
    struct offsets key_rows;                                  /* rows of k and v of each graph */
    int64_t dh, width;                                        /* columns of a head, actual and as packed */
    int parts, group;                                         /* of keys; heads of a task */
    int64_t queries;                                          /* at a time */
    float scale, *lse, *rest, *delta, *dq_parts, *workspaces; /* scratch: H x N, parts of N x D; per thread */
    int64_t per_thread;                                       /* floats of a thread */
    struct task_queue *queues;
    const struct mask *mask; /* of dropout; null: none */
    int64_t *pairs;          /* with dropout or a bias: the pairs of the graphs before each */
};

/* Scratch of a thread for a head. */
struct workspace {
    float *kt, *vt, *k; /* packed for q k', dy v' and ds k */
    float *dk, *dv;     /* KEYS x width */
    float *ds;          /* QUERIES x LD; at first the bias, if there is one */
    float *q, *dy, *p;  /* of all heads: packed for ds' q and p' dy; QUERIES x LD */
};

/* Floats of a head of its own. */
static int64_t own_size(const struct head_layout *s)
{
    return 5 * KEYS * s->width + QUERIES * LD;
}

/* Lays out a thread's scratch for the heads of a task, and returns its size in floats. */
static int64_t lay_out(const struct head_layout *s, float *at, struct workspace r[GROUP])
{
    int64_t size = 0, own = own_size(s), shared = s->group * own, keys = KEYS * s->width;
    int64_t queries = QUERIES * s->width, tile = QUERIES * LD;
    for (int h = 0; h < s->group; h++) {
        float **parts[] = {&r[h].kt, &r[h].vt, &r[h].k,  &r[h].dk, &r[h].dv,
                           &r[h].ds, &r[h].q,  &r[h].dy, &r[h].p};
        int64_t sizes[] = {keys, keys, keys, keys, keys, tile, queries, queries, tile};
        size = h * own;
        for (int i = 0; i < 9; i++) {
            *parts[i] = at ? at + size : NULL;
            size = i == 5 ? shared : size + sizes[i];
        }
    }
    return size;
}

/* The groups of heads that are tasks. */
static int64_t groups_of(const struct head_layout *s)
{
    return blocks_of(s->a->heads, s->group);
}

static struct head_layout heads_of(const struct attention_backward_args *a, int64_t *bytes)
{
    int64_t n = a->q.rows, dh = a->q.cols / a->heads;
    struct head_layout s = {.a = a, .dh = dh, .width = round_up(dh, GEMM_LANES)};
    s.key_rows = mat_present(a->keys.at) ? a->keys : a->graphs;
    s.scale = (float)(1 / sqrt((double)dh));
    bool biased = mat_present(a->bias);
    s.queries = biased ? BIASED : QUERIES;
    s.group = biased ? (int)min_of(GROUP, a->heads) : 1;
    int64_t most = a->k.rows / (biased ? KEYS / 2 : KEYS);
    s.parts = (int)max_of(1, min_of(blocks_of(TASKS, graph_count(a->graphs) * groups_of(&s)), most));
    struct workspace unused[GROUP];
    s.per_thread = lay_out(&s, NULL, unused) + THREAD_GAP / (int64_t)sizeof(float);
    int64_t sizes[] = {n * a->heads, n * a->heads, n * a->heads, s.parts > 1 ? s.parts * mat_size(a->q) : 0,
                       s.per_thread * a->call.threads};
    float **parts[] = {&s.lse, &s.rest, &s.delta, &s.dq_parts, &s.workspaces};
    *bytes = 0;
    for (int i = 0; i < 5; i++) {
        *parts[i] = a->call.scratch ? (float *)((char *)a->call.scratch + *bytes) : NULL;
        *bytes += float_bytes(sizes[i]);
    }
    s.queues = a->call.scratch ? (struct task_queue *)(void *)((char *)a->call.scratch + *bytes) : NULL;
    *bytes += a->call.threads * (int64_t)sizeof(struct task_queue);
    if (mat_present(a->schedule) || biased) {
        s.pairs = a->call.scratch ? (int64_t *)(void *)((char *)a->call.scratch + *bytes) : NULL;
        *bytes += graph_count(a->graphs) * 8;
    }
    return s;
}

static bool is_far(float lse)
{
    return !(fabsf(lse) <= FAR);
}

/* x y', with the bits that gemm_fused gives; compilers would not fuse the sum of a loop. */
static float chain(int64_t n, const float *x, const float *y)
{
    float sum = 0;
    for (int64_t k = 0; k < n; k++)
#if (defined(__FMA__) || defined(__aarch64__)) && !defined(ROLLED)
        sum = __builtin_fmaf(x[k], y[k], sum);
#else
        sum += x[k] * y[k];
#endif
    return sum;
}

/* delta, and lse converted to base 2: in float, and what that lacks. */
static void delta_row(const struct head_layout *s, int64_t i)
{
    for (int h = 0; h < s->a->heads; h++) {
        const float *y = row_of(s->a->y, i) + h * s->dh, *dy = row_of(s->a->dy, i) + h * s->dh;
        int64_t at = h * s->a->q.rows + i;
        struct softmax_base lse = softmax_base_of(doubles_of(s->a->lse, i)[h]);
        s->lse[at] = pair_bias_top(lse.high);
        s->rest[at] = lse.rest;
        s->delta[at] = is_far(s->lse[at]) ? chain(s->dh, dy, y) : vm_dot(s->dh, y, dy);
    }
}

/* A head's block of rows of a matrix. */
static struct gemm_in rows_in(struct mat m, int64_t first, int64_t column)
{
    return gemm_in(row_of(m, first) + column, m.ld);
}

/* One row of p, and of the product dy v' / (1 - p): x becomes d(p), t becomes ds without scale. */
static void drop_row(struct mask m, int64_t first, int64_t n, float *restrict x, float *restrict t,
                     float delta)
{
    float scale = (float)m.scale;
    struct mask_buffer buffer;
    const mask_half *numbers = mask_numbers(m, first, n, &buffer);
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        t[k] = x[k] * (mask_apply(m, numbers[k], 1, t[k]) - delta);
        x[k] = mask_apply(m, numbers[k], scale, x[k]);
    }
}

/* Queries first .. against the keys from `key` on, of graph g. */
struct tile {
    int64_t g, h, first, rows, key, keys;
    const float *weight;            /* of the keys */
    const float *ahead, *ahead_too; /* what the tile prefetches: of the next bias, of its own dbias */
};

/* Its first pair. */
static int64_t pair_at(const struct head_layout *s, struct tile b)
{
    int64_t query = b.first - graph_first(s->a->graphs, b.g), key = b.key - graph_first(s->key_rows, b.g);
    return s->pairs[b.g] + query * graph_size(s->key_rows, b.g) + key;
}

/* Of so many heads, so that each line is read once, and written once. */
static void get_bias(const struct head_layout *s, const struct workspace *r, struct tile b, int heads)
{
    struct mat bias = s->a->bias;
    int64_t n = graph_size(s->key_rows, b.g), first = pair_at(s, b);
    for (int64_t i = 0; i < b.rows; i++)
        pair_bias_get(b.keys, heads, r->ds + i * LD, own_size(s), row_of(bias, first + i * n) + b.h, bias.ld);
}

static void put_dbias(const struct head_layout *s, const struct workspace *r, struct tile b, int heads)
{
    struct mat to = s->a->dbias;
    int64_t n = graph_size(s->key_rows, b.g), first = pair_at(s, b);
    for (int64_t i = 0; i < b.rows; i++)
        pair_bias_put(b.keys, heads, row_of(to, first + i * n) + b.h, to.ld, to.acc, r->ds + i * LD,
                      own_size(s));
}

/* The same of all rows. */
static void drop(const struct head_layout *s, const struct workspace *r, struct tile b)
{
    int64_t n = graph_size(s->key_rows, b.g), first = b.h * s->a->graphs.pairs + pair_at(s, b);
    for (int64_t i = 0; i < b.rows; i++)
        drop_row(*s->mask, first + i * n, b.keys, r->p + i * LD, r->ds + i * LD,
                 s->delta[b.h * s->a->q.rows + b.first + i]);
}

static bool any_far(int64_t n, const float *lse)
{
    bool any = false;
    for (int64_t i = 0; i < n; i++)
        any |= is_far(lse[i]);
    return any;
}

static void queries(const struct head_layout *s, const struct workspace *r, struct tile b, struct mat dq)
{
    const struct attention_backward_args *a = s->a;
    int64_t first = b.first, rows = b.rows, keys = b.keys, column = b.h * s->dh;
    struct gemm_in q = rows_in(a->q, first, column), dy = rows_in(a->dy, first, column);
    int64_t at = b.h * s->a->q.rows + first;
    bool begin = first == graph_first(a->graphs, b.g);
    bool biased = mat_present(a->bias), stored = mat_present(a->m) || any_far(rows, s->lse + at);
    struct gemm_end p = {.kind = stored   ? GEMM_STORE
                                 : biased ? GEMM_BIASED
                                          : GEMM_PROBABILITIES,
                         .shift = s->lse + at,
                         .p = r->ds,
                         .ahead = b.ahead};
    struct gemm_end ds = {
        .kind = s->mask ? GEMM_STORE : GEMM_GRADIENTS, .shift = s->delta + at, .p = s->mask ? NULL : r->p};
    p.apart = graph_size(s->key_rows, b.g) * a->bias.ld;
    ds.apart = graph_size(s->key_rows, b.g) * a->dbias.ld;
    ds.ahead = b.ahead_too;
    gemm_fused(rows, keys, s->dh, q, r->kt, r->p, LD, p);
    for (int64_t i = 0; i < rows && stored; i++) {
        if (biased)
            pair_bias_add(keys, r->p + i * LD, r->ds + i * LD);
        key_weights_apply(keys, r->p + i * LD, s->lse[at + i], b.weight);
        if (is_far(s->lse[at + i]))
            gemm_scale(keys, r->p + i * LD, exp2f(-s->rest[at + i]));
    }
    gemm_fused(rows, keys, s->dh, dy, r->vt, r->ds, LD, ds);
    if (s->mask)
        drop(s, r, b);
    gemm_packed(rows, s->dh, keys, gemm_in(r->ds, LD), r->k, row_of(dq, first) + column, dq.ld, dq.acc);
    gemm_pack(rows, s->dh, dy, r->dy);
    gemm_packed(keys, s->dh, rows, gemm_transposed(r->p, LD), r->dy, r->dv, s->width, !begin);
    gemm_pack(rows, s->dh, q, r->q);
    gemm_scale(gemm_packed_size(rows, s->dh), r->q, s->scale);
    gemm_packed(keys, s->dh, rows, gemm_transposed(r->ds, LD), r->q, r->dk, s->width, !begin);
}

static void put(struct mat to, int64_t first, int64_t column, int64_t rows, int64_t cols, const float *from,
                int64_t ld)
{
    for (int64_t i = 0; i < rows; i++)
        add_accumulators(cols, row_of(to, first + i) + column, to.acc, from + i * ld, 1, 0);
}

/* Packs the keys first .. and their values; the accumulators are 0 where no query sets them. */
static void pack(const struct head_layout *s, const struct workspace *r, int64_t h, int64_t first,
                 int64_t keys, bool none)
{
    const struct attention_backward_args *a = s->a;
    int64_t column = h * s->dh;
    struct gemm_in k = rows_in(a->k, first, column), v = rows_in(a->v, first, column);
    gemm_pack(s->dh, keys, gemm_transposed(k.at, k.row), r->kt);
    gemm_pack(s->dh, keys, gemm_transposed(v.at, v.row), r->vt);
    gemm_pack(keys, s->dh, k, r->k);
    gemm_scale(gemm_packed_size(s->dh, keys), r->kt, s->scale * VM_LOG2E);
    gemm_scale(gemm_packed_size(keys, s->dh), r->k, s->scale);
    if (s->mask)
        gemm_scale(gemm_packed_size(s->dh, keys), r->vt, (float)s->mask->scale);
    if (none) {
        memset(r->dk, 0, KEYS * (size_t)s->width * sizeof(float));
        memset(r->dv, 0, KEYS * (size_t)s->width * sizeof(float));
    }
}

/* Keys first .. of graph g, with all queries of the graph, in the heads h .. end_h - 1. */
static void keys_block(const struct head_layout *s, const struct workspace *r, int64_t g, int64_t h,
                       int64_t end_h, int64_t first, int64_t keys, struct mat dq)
{
    const struct attention_backward_args *a = s->a;
    int64_t begin = graph_first(a->graphs, g), end = graph_first(a->graphs, g + 1);
    float weight[KEYS];
    key_weights_read(a->m, first, keys, weight);
    for (int64_t k = h; k < end_h; k++)
        pack(s, r + k - h, k, first, keys, begin == end);
    for (int64_t i = begin; i < end; i += s->queries) {
        struct tile b = {g, h, i, min_of(s->queries, end - i), first, keys, weight, NULL, NULL};
        if (mat_present(a->bias)) {
            get_bias(s, r, b, (int)(end_h - h));
            b.ahead =
                row_of(a->bias, pair_at(s, b) + (i + s->queries < end
                                                     ? s->queries * graph_size(s->key_rows, g)
                                                     : KEYS - (i - begin) * graph_size(s->key_rows, g)));
            b.ahead_too = mat_present(a->dbias) ? row_of(a->dbias, pair_at(s, b)) : NULL;
        }
        for (int64_t k = h; k < end_h; k++) {
            struct tile its = b;
            its.h = k;
            if (b.ahead)
                its.ahead += (k - h) * keys;
            if (b.ahead_too)
                its.ahead_too += (k - h) * keys;
            queries(s, r + k - h, its, dq);
        }
        if (mat_present(a->dbias))
            put_dbias(s, r, b, (int)(end_h - h));
    }
    for (int64_t k = h; k < end_h; k++) {
        put(a->dk, first, k * s->dh, keys, s->dh, r[k - h].dk, s->width);
        put(a->dv, first, k * s->dh, keys, s->dh, r[k - h].dv, s->width);
    }
}

static void part(const struct head_layout *s, int64_t task, float *work)
{
    const struct attention_backward_args *a = s->a;
    int64_t p = task % s->parts, groups = groups_of(s), g = task / s->parts / groups;
    int64_t h = task / s->parts % groups * s->group, end_h = min_of(h + s->group, a->heads);
    struct workspace r[GROUP];
    lay_out(s, work, r);
    struct mat dq = a->dq;
    if (s->parts > 1) {
        dq = a->q;
        dq.data = s->dq_parts + p * mat_size(a->q);
        dq.ld = a->q.cols;
    }
    int64_t at = graph_first(s->key_rows, g), n = graph_size(s->key_rows, g);
    int64_t begin = at + n * p / s->parts, end = at + n * (p + 1) / s->parts;
    bool none = begin == end && !dq.acc;
    for (int64_t i = graph_first(a->graphs, g); i < graph_first(a->graphs, g + 1) && none; i++)
        memset(row_of(dq, i) + h * s->dh, 0, (size_t)((end_h - h) * s->dh) * sizeof(float));
    for (int64_t j = begin; j < end; j += KEYS, dq.acc = true)
        keys_block(s, r, g, h, end_h, j, min_of(KEYS, end - j), dq);
}

/* A row that is no key of any graph. */
static void no_key(const struct attention_backward_args *a, int64_t i)
{
    memset(row_of(a->dk, i), 0, a->dk.acc ? 0 : (size_t)a->dk.cols * sizeof(float));
    memset(row_of(a->dv, i), 0, a->dv.acc ? 0 : (size_t)a->dv.cols * sizeof(float));
}

static void run(const struct head_layout *s)
{
    const struct attention_backward_args *a = s->a;
    int64_t n = a->q.rows, d = a->q.cols, tasks = graph_count(a->graphs) * groups_of(s) * s->parts;
    int threads = threads_for(&a->call, a->graphs.pairs * d, 1 << 14);
#pragma omp parallel num_threads(threads)
    {
        tasks_begin(s->queues, tasks);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            delta_row(s, i);
#pragma omp for schedule(static) nowait
        for (int64_t i = graph_first(s->key_rows, graph_count(s->key_rows)); i < a->k.rows; i++)
            no_key(a, i);
        for (struct task t = {0}; task_next(s->queues, tasks, &t);)
            part(s, t.number, s->workspaces + omp_get_thread_num() * s->per_thread);
        if (s->parts > 1) {
#pragma omp barrier
#pragma omp for schedule(static) nowait
            for (int64_t i = 0; i < n; i++)
                add_accumulators(d, row_of(a->dq, i), a->dq.acc, s->dq_parts + i * d, s->parts, n * d);
        }
    }
}

void CPU(attention_backward)(const void *args)
{
    const struct attention_backward_args *a = args;
    int64_t bytes;
    struct mask mask;
    struct head_layout s = heads_of(a, &bytes);
    s.mask = mask_given(a->schedule, a->key, a->p, &mask);
    if (s.mask || mat_present(a->bias))
        begin_pairs(a->graphs, s.key_rows, s.pairs);
    run(&s);
}

int64_t CPU(attention_backward_scratch)(const void *args)
{
    int64_t bytes;
    heads_of(args, &bytes);
    return bytes;
}
