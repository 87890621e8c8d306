/*
 * Dense multi-head attention within each graph of a batch, without a score matrix: y = softmax(q k' scale) v
 * with scale = (D / H)^-1/2, per head, and lse = log sum exp of each row's scaled scores. q, k, v, y: N x D,
 * lse: N x H.
 *
 * First k' and v of every head and graph are packed for gemm.h, with k' scaled by scale log2(e), so that
 * scores are exponents of 2. A task is QUERIES rows of one head: it processes KEYS keys at a time, computes
 * the weights 2^score in the registers that hold the scores, and accumulates its rows of y in scratch. Scores
 * are bounded by |q_i| max |k_j| (Cauchy and Schwarz). If that exceeds SAFE for some row, scores are stored
 * first, to update each row's running maximum, which is then subtracted, and sum and y are rescaled when it
 * grows (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al.,
 * "FlashAttention", 2022).
 *
 * Dropout is applied to a block of weights after they were added to the sums, which thus are without it.
 *
 * With a bias, scores are always stored, to add it, and maxima subtracted: its bound would take another pass.
 * Tasks then are in the order of the heads, which read the same lines.
 *
 * Folded into a result of other keys, the state of a row begins with its y and lse instead of zero: y is that
 * of maximum lse, and of sum 1 but for its rounding. Keys are then rows of their own, and a graph may have
 * none.
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

#define SAFE 43.0f /* 2^43 can be summed over any number of keys, and 2^-43 is not denormal */

enum { QUERIES = 48, KEYS = 256 };

struct head_layout {
    const struct attention_args *a;
    struct offsets key_rows; /* rows of k and v of each graph */
    bool folds;              /* into y and lse of other keys */
    int64_t dh, width;       /* columns of a head, actual and as packed */
    int64_t blocks;          /* of keys, per head */
    float scale;             /* of scores, including log2(e) */
    float *keys, *values;    /* packed */
    float *lengths;          /* H x blocks: the largest |k|^2 in each block */
    const struct mask *mask; /* of dropout; null: none */
    int64_t *pairs;          /* with dropout or a bias: the pairs of the graphs before each */
    struct task_queue *queues;
    char *workspaces; /* per thread, `per_thread` bytes apart */
    int64_t per_thread;
};

/*
 * Scratch of a thread, the state of a query block: weights of a block of keys; for each row the sum so far,
 * in lanes, the maximum that is subtracted from the scores, and y so far, dh wide.
 */
struct workspace {
    float weights[QUERIES * KEYS], sums[QUERIES * LANES], top[QUERIES], of_keys[KEYS], y[];
};

/*
 * Offset of the packed keys (dh x n) and values (n x dh) of graph g and head h; each graph has padding for
 * GEMM_LANES more rows.
 */
static int64_t packed_at(const struct head_layout *s, int64_t g, int64_t h)
{
    int64_t rows = graph_first(s->key_rows, g) + g * GEMM_LANES;
    return (rows * s->a->heads + h * (graph_size(s->key_rows, g) + GEMM_LANES)) * s->width;
}

static int64_t packed_size(const struct attention_args *a)
{
    int64_t rows = a->k.rows + graph_count(a->graphs) * GEMM_LANES;
    return rows * a->heads * round_up(a->q.cols / a->heads, GEMM_LANES);
}

/* The largest |x|^2 among rows of dh elements. */
static float longest(const struct head_layout *s, int64_t rows, const float *x, int64_t ld)
{
    float most = 0;
    for (int64_t i = 0; i < rows; i++, x += ld) {
        float length = vm_dot(s->dh, x, x);
        most = length > most ? length : most;
    }
    return most;
}

static void pack(const struct head_layout *s, int64_t task)
{
    const struct attention_args *a = s->a;
    struct head_block its = head_block_at(s->key_rows, KEYS, a->heads, task);
    struct block b = block_at(s->key_rows, KEYS, its.number);
    int64_t h = its.head;
    int64_t at = packed_at(s, b.graph, h), before = b.first - graph_first(s->key_rows, b.graph);
    const float *k = row_of(a->k, b.first) + h * s->dh;
    float *keys = s->keys + at + before * s->dh;
    gemm_pack(s->dh, b.rows, gemm_transposed(k, a->k.ld), keys);
    gemm_scale(gemm_packed_size(s->dh, b.rows), keys, s->scale);
    gemm_pack(b.rows, s->dh, gemm_in(row_of(a->v, b.first) + h * s->dh, a->v.ld),
              s->values + at + before * s->width);
    s->lengths[h * s->blocks + its.number] = longest(s, b.rows, k, a->k.ld);
}

/* Whether all scores of a block of queries, and the lse so far, are within SAFE of zero. */
static bool safe(const struct head_layout *s, struct block b, int64_t h)
{
    const float *lengths = s->lengths + h * s->blocks + block_first(s->key_rows, KEYS, b.graph);
    float most = 0;
    for (int64_t i = 0; i < blocks_of(graph_size(s->key_rows, b.graph), KEYS); i++)
        most = lengths[i] > most ? lengths[i] : most;
    for (int64_t i = 0; i < b.rows && s->folds; i++)
        if (!(fabs(doubles_of(s->a->from_lse, b.first + i)[h] * M_LOG2E) <= SAFE))
            return false;
    most *= longest(s, b.rows, row_of(s->a->q, b.first) + h * s->dh, s->a->q.ld);
    return s->scale * sqrtf(most) <= SAFE;
}

/* Updates the row's maximum with more scores. */
static void raise_top(const struct head_layout *s, struct workspace *work, int64_t i, int64_t keys,
                      bool first)
{
    float top = pair_bias_top(vm_largest(keys, work->weights + i * KEYS));
    if (!first && top > work->top[i]) {
        float correction = exp2f(work->top[i] - top);
        gemm_scale(LANES, work->sums + i * LANES, correction);
        gemm_scale(s->dh, work->y + i * s->dh, correction);
    }
    if (first || top > work->top[i])
        work->top[i] = top;
}

/* Replaces the scores of keys first .. by their weights; `begin`: they are the first of the graph. */
static void weigh(const struct head_layout *s, struct workspace *work, int64_t rows, int64_t first,
                  int64_t keys, bool online, bool begin)
{
    key_weights_read(s->a->m, first, keys, work->of_keys);
    for (int64_t i = 0; i < rows && online; i++) {
        if (mat_present(s->a->m))
            key_weights_hide(keys, work->weights + i * KEYS, work->of_keys);
        raise_top(s, work, i, keys, begin);
    }
    for (int64_t i = 0; i < rows; i++)
        *(vec *)(work->sums + i * LANES) +=
            key_weights_apply(keys, work->weights + i * KEYS, work->top[i], work->of_keys);
}

static void end_row(const struct head_layout *s, const struct workspace *work, int64_t i, int64_t row,
                    int64_t h)
{
    float sum = vm_sum(*(const vm_vec *)(work->sums + i * LANES));
    float *y = row_of(s->a->y, row) + h * s->dh, factor = 1 / vm_larger(FLT_MIN, sum);
    for (int64_t c = 0; c < s->dh; c++)
        y[c] = work->y[i * s->dh + c] * factor;
    if (mat_present(s->a->lse))
        doubles_of(s->a->lse, row)[h] = ((double)work->top[i] + log2f(sum)) * M_LN2;
}

/* The pair of the first query of a block and the key j of their graph. */
static int64_t pair_at(const struct head_layout *s, struct block b, int64_t j)
{
    int64_t query = b.first - graph_first(s->a->graphs, b.graph);
    return s->pairs[b.graph] + query * graph_size(s->key_rows, b.graph) + j;
}

/* Dropout of the weights of a block of queries against the keys j .. j + keys - 1 of their graph. */
static void drop(const struct head_layout *s, struct block b, int64_t h, int64_t j, int64_t keys,
                 struct workspace *work)
{
    int64_t n = graph_size(s->key_rows, b.graph), first = h * s->a->graphs.pairs + pair_at(s, b, j);
    for (int64_t i = 0; i < b.rows; i++)
        mask_in_place(*s->mask, first + i * n, keys, work->weights + i * KEYS);
}

/* The bias of the same pairs, added to their scores. */
static void add_bias(const struct head_layout *s, struct block b, int64_t h, int64_t j, int64_t keys,
                     struct workspace *work)
{
    int64_t n = graph_size(s->key_rows, b.graph), first = pair_at(s, b, j);
    for (int64_t i = 0; i < b.rows; i++)
        pair_bias_add(keys, work->weights + i * KEYS, row_of(s->a->bias, first + i * n) + h, s->a->bias.ld);
}

/* The state before the first keys. */
static void begin_rows(const struct head_layout *s, struct workspace *work, struct block b, int64_t h,
                       bool online)
{
    memset(work->sums, 0, (size_t)(round_up(b.rows, GEMM_ROWS) * LANES) * sizeof(float));
    memset(work->top, 0, sizeof work->top);
    for (int64_t i = 0; i < b.rows && s->folds; i++) {
        const float *from = row_of(s->a->from, b.first + i) + h * s->dh;
        struct softmax_base lse = softmax_base_of(doubles_of(s->a->from_lse, b.first + i)[h]);
        float sum = lse.high < -FLT_MAX ? 0 : exp2f(online ? lse.rest : lse.high);
        work->top[i] = online ? pair_bias_top(lse.high) : 0;
        work->sums[i * LANES] = sum;
        for (int64_t c = 0; c < s->dh; c++)
            work->y[i * s->dh + c] = from[c] * sum;
    }
}

/* Queries without further keys keep their result, if they have one. */
static void keep_rows(const struct head_layout *s, struct block b, int64_t h)
{
    for (int64_t i = b.first; i < b.first + b.rows && s->folds; i++) {
        memmove(row_of(s->a->y, i) + h * s->dh, row_of(s->a->from, i) + h * s->dh,
                (size_t)s->dh * sizeof(float));
        if (mat_present(s->a->lse))
            doubles_of(s->a->lse, i)[h] = doubles_of(s->a->from_lse, i)[h];
    }
}

static void attend(const struct head_layout *s, int64_t task, struct workspace *work)
{
    const struct attention_args *a = s->a;
    bool biased = mat_present(a->bias);
    struct head_block its = biased ? (struct head_block){task / a->heads, task % a->heads}
                                   : head_block_at(a->graphs, QUERIES, a->heads, task);
    struct block b = block_at(a->graphs, QUERIES, its.number);
    int64_t h = its.head;
    int64_t n = b.rows > 0 ? graph_size(s->key_rows, b.graph) : 0, at = packed_at(s, b.graph, h);
    if (n == 0) {
        keep_rows(s, b, h);
        return;
    }
    struct gemm_in q = gemm_in(row_of(a->q, b.first) + h * s->dh, a->q.ld);
    bool online = biased || !safe(s, b, h), stored = online || mat_present(s->a->m);
    struct gemm_end end = {.kind = stored ? GEMM_STORE : GEMM_WEIGHTS, .sums = work->sums};
    begin_rows(s, work, b, h, online);
    for (int64_t j = 0; j < n; j += KEYS) {
        int64_t keys = min_of(KEYS, n - j);
        gemm_fused(b.rows, keys, s->dh, q, s->keys + at + j * s->dh, work->weights, KEYS, end);
        if (biased)
            add_bias(s, b, h, j, keys, work);
        if (stored)
            weigh(s, work, b.rows, graph_first(s->key_rows, b.graph) + j, keys, online, j == 0 && !s->folds);
        if (s->mask)
            drop(s, b, h, j, keys, work);
        gemm_packed(b.rows, s->dh, keys, gemm_in(work->weights, KEYS), s->values + at + j * s->width, work->y,
                    s->dh, j > 0 || s->folds);
    }
    for (int64_t i = 0; i < b.rows; i++)
        end_row(s, work, i, b.first + i, h);
}

/* Lays out the scratch buffer; `bytes` is its size. */
static struct head_layout heads_of(const struct attention_args *a, int64_t *bytes)
{
    int64_t dh = a->q.cols / a->heads, packed = float_bytes(packed_size(a));
    struct head_layout s = {.a = a, .dh = dh, .width = round_up(dh, LANES)};
    s.folds = mat_present(a->from);
    s.key_rows = s.folds ? a->keys : a->graphs;
    s.scale = VM_LOG2E * (float)(1 / sqrt((double)dh));
    s.blocks = block_count(a->graphs, a->k.rows, KEYS);
    int64_t lengths = float_bytes(s.blocks * a->heads);
    char *at = a->call.scratch;
    int64_t pairs =
        mat_present(a->schedule) || mat_present(a->bias) ? round_up(graph_count(a->graphs) * 8, 64) : 0;
    s.per_thread = (int64_t)sizeof(struct workspace) + float_bytes(QUERIES * dh) + THREAD_GAP;
    int64_t queues = a->call.threads * (int64_t)sizeof(struct task_queue);
    *bytes = 2 * packed + lengths + pairs + queues + a->call.threads * s.per_thread;
    if (at) {
        s.keys = (float *)at;
        s.values = (float *)(at + packed);
        s.lengths = (float *)(at + 2 * packed);
        s.pairs = (int64_t *)(at + 2 * packed + lengths);
        s.queues = (struct task_queue *)(at + 2 * packed + lengths + pairs);
        s.workspaces = at + 2 * packed + lengths + pairs + queues;
    }
    return s;
}

static void run(const struct head_layout *s)
{
    const struct attention_args *a = s->a;
    int64_t tasks = block_count(a->graphs, a->q.rows, QUERIES) * a->heads;
    int64_t packs = block_first(s->key_rows, KEYS, graph_count(s->key_rows)) * a->heads;
    int threads = threads_for(&a->call, a->graphs.pairs * a->q.cols, 1 << 15);
#pragma omp parallel num_threads(threads)
    {
        struct workspace *work = (void *)(s->workspaces + omp_get_thread_num() * s->per_thread);
        tasks_begin(s->queues, tasks);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < packs; i++)
            pack(s, i);
        for (struct task t = {0}; task_next(s->queues, tasks, &t);)
            attend(s, t.number, work);
    }
}

void CPU(attention)(const void *args)
{
    const struct attention_args *a = args;
    int64_t bytes;
    struct mask mask;
    struct head_layout s = heads_of(a, &bytes);
    s.mask = mask_given(a->schedule, a->key, a->p, &mask);
    if (s.mask || mat_present(a->bias))
        begin_pairs(a->graphs, s.key_rows, s.pairs);
    run(&s);
}

int64_t CPU(attention_scratch)(const void *args)
{
    int64_t bytes;
    heads_of(args, &bytes);
    return bytes;
}
