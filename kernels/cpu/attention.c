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
 * With a bias, a task is fewer rows of all heads of a cache line, which share the lines that they read; the
 * tile adds it, and its weights overwrite it. No maxima are subtracted at first, since a bound would take
 * another pass: where a row's sum turns out to be beyond 2^SAFE or below its inverse, the head is done again
 * with maxima.
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

enum {
    QUERIES = 48,
    KEYS = 256,
    BIASED = 24, /* queries of a task with a bias */
    GROUP = 16,  /* heads of it, at most: a cache line */
};

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
    int64_t per_thread, per_head;
    int64_t queries, group; /* of a task: rows, and heads */
};

/* Scratch of a thread, beside the states of a task's heads: weights of a block of keys. */
struct workspace {
    float weights[QUERIES * KEYS], of_keys[KEYS];
    char states[]; /* `per_head` bytes apart */
};

/*
 * The state of a query block in a head: for each row the sum so far, in lanes, the maximum that is subtracted
 * from the scores, and y so far, dh wide; and the bias of a block of keys.
 */
struct state {
    float sums[QUERIES * LANES], top[QUERIES], y[];
};

/* Queries in one head. */
struct tile {
    struct block b;
    int64_t h;
    bool online; /* maxima are subtracted */
    struct state *state;
    float *bias;
    const float *ahead; /* the bias of the keys that follow: each head prefetches a part */
};

/* In the head `h` after its own. */
static struct tile head_of(const struct head_layout *s, struct tile t, int h)
{
    t.h += h;
    t.state = (void *)((char *)t.state + h * s->per_head);
    t.bias = t.state->y + s->queries * s->dh;
    return t;
}

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
static void raise_top(const struct head_layout *s, struct state *state, int64_t i, int64_t keys,
                      const float *scores, bool first)
{
    float top = pair_bias_top(vm_largest(keys, scores));
    if (!first && top > state->top[i]) {
        float correction = exp2f(state->top[i] - top);
        gemm_scale(LANES, state->sums + i * LANES, correction);
        gemm_scale(s->dh, state->y + i * s->dh, correction);
    }
    if (first || top > state->top[i])
        state->top[i] = top;
}

/* Replaces the scores of keys first .. by their weights; `begin`: they are the first of the graph. */
static void weigh(const struct head_layout *s, struct workspace *work, struct tile t, int64_t first,
                  int64_t keys, bool begin)
{
    key_weights_read(s->a->m, first, keys, work->of_keys);
    for (int64_t i = 0; i < t.b.rows; i++) {
        float *scores = work->weights + i * KEYS;
        if (t.online && mat_present(s->a->m))
            key_weights_hide(keys, scores, work->of_keys);
        if (t.online)
            raise_top(s, t.state, i, keys, scores, begin);
        *(vec *)(t.state->sums + i * LANES) +=
            key_weights_apply(keys, scores, t.state->top[i], work->of_keys);
    }
}

static void end_row(const struct head_layout *s, struct tile t, int64_t i)
{
    int64_t row = t.b.first + i;
    float sum = vm_sum(*(const vm_vec *)(t.state->sums + i * LANES));
    float *y = row_of(s->a->y, row) + t.h * s->dh, factor = 1 / vm_larger(FLT_MIN, sum);
    for (int64_t c = 0; c < s->dh; c++)
        y[c] = t.state->y[i * s->dh + c] * factor;
    if (mat_present(s->a->lse))
        doubles_of(s->a->lse, row)[t.h] = ((double)t.state->top[i] + log2f(sum)) * M_LN2;
}

/* The pair of the first query of a block and the key j of their graph. */
static int64_t pair_at(const struct head_layout *s, struct block b, int64_t j)
{
    int64_t query = b.first - graph_first(s->a->graphs, b.graph);
    return s->pairs[b.graph] + query * graph_size(s->key_rows, b.graph) + j;
}

/* Dropout of the weights of a block of queries against the keys j .. j + keys - 1 of their graph. */
static void drop(const struct head_layout *s, struct tile t, int64_t j, int64_t keys, float *weights)
{
    int64_t n = graph_size(s->key_rows, t.b.graph);
    int64_t first = t.h * s->a->graphs.pairs + pair_at(s, t.b, j);
    for (int64_t i = 0; i < t.b.rows; i++)
        mask_in_place(*s->mask, first + i * n, keys, weights + i * KEYS);
}

/* The bias of the same pairs, of so many heads. */
static void get_bias(const struct head_layout *s, struct tile t, int heads, int64_t j, int64_t keys)
{
    struct mat bias = s->a->bias;
    int64_t n = graph_size(s->key_rows, t.b.graph), first = pair_at(s, t.b, j);
    for (int64_t i = 0; i < t.b.rows; i++)
        pair_bias_get(keys, heads, t.bias + i * KEYS, s->per_head / (int64_t)sizeof(float),
                      row_of(bias, first + i * n) + t.h, bias.ld);
}

/* The state before the first keys. */
static void begin_rows(const struct head_layout *s, struct tile t)
{
    struct state *state = t.state;
    memset(state->sums, 0, (size_t)(t.b.rows * LANES) * sizeof(float));
    memset(state->top, 0, sizeof state->top);
    for (int64_t i = 0; i < t.b.rows && s->folds; i++) {
        const float *from = row_of(s->a->from, t.b.first + i) + t.h * s->dh;
        struct softmax_base lse = softmax_base_of(doubles_of(s->a->from_lse, t.b.first + i)[t.h]);
        float sum = lse.high < -FLT_MAX ? 0 : exp2f(t.online ? lse.rest : lse.high);
        state->top[i] = t.online ? pair_bias_top(lse.high) : 0;
        state->sums[i * LANES] = sum;
        for (int64_t c = 0; c < s->dh; c++)
            state->y[i * s->dh + c] = from[c] * sum;
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

/* Adds keys j .. of the graph to the state. */
static void attend_keys(const struct head_layout *s, struct tile t, int64_t j, int64_t keys,
                        struct workspace *work)
{
    const struct attention_args *a = s->a;
    bool biased = mat_present(a->bias), stored = t.online || mat_present(a->m);
    struct gemm_in q = gemm_in(row_of(a->q, t.b.first) + t.h * s->dh, a->q.ld);
    struct gemm_end end = {.kind = stored   ? GEMM_STORE
                                   : biased ? GEMM_BIASED
                                            : GEMM_WEIGHTS,
                           .sums = t.state->sums,
                           .shift = t.state->top,
                           .p = t.bias,
                           .ahead = t.ahead,
                           .apart = graph_size(s->key_rows, t.b.graph) * a->bias.ld};
    int64_t at = packed_at(s, t.b.graph, t.h);
    float *weights = biased && !stored ? t.bias : work->weights;
    gemm_fused(t.b.rows, keys, s->dh, q, s->keys + at + j * s->dh, weights, KEYS, end);
    for (int64_t i = 0; i < t.b.rows && stored && biased; i++)
        pair_bias_add(keys, work->weights + i * KEYS, t.bias + i * KEYS);
    if (stored)
        weigh(s, work, t, graph_first(s->key_rows, t.b.graph) + j, keys, j == 0 && !s->folds);
    if (s->mask)
        drop(s, t, j, keys, weights);
    gemm_packed(t.b.rows, s->dh, keys, gemm_in(weights, KEYS), s->values + at + j * s->width, t.state->y,
                s->dh, j > 0 || s->folds);
}

/* All keys, in so many heads from t.h on. */
static void attend(const struct head_layout *s, struct tile t, int heads, struct workspace *work)
{
    int64_t n = graph_size(s->key_rows, t.b.graph);
    for (int h = 0; h < heads; h++)
        begin_rows(s, head_of(s, t, h));
    for (int64_t j = 0; j < n; j += KEYS) {
        int64_t keys = min_of(KEYS, n - j);
        if (mat_present(s->a->bias)) {
            get_bias(s, head_of(s, t, 0), heads, j, keys);
            int64_t next = j + KEYS < n ? pair_at(s, t.b, j + KEYS) : pair_at(s, t.b, 0) + t.b.rows * n;
            t.ahead = row_of(s->a->bias, next);
        }
        for (int h = 0; h < heads; h++) {
            struct tile its = head_of(s, t, h);
            if (t.ahead)
                its.ahead += h * keys;
            attend_keys(s, its, j, keys, work);
        }
    }
}

/* Whether no row's sum of weights shows that some were too large, or all too small. */
static bool sums_fit(struct tile t)
{
    bool fit = true;
    for (int64_t i = 0; i < t.b.rows; i++)
        fit &= fabsf(log2f(vm_sum(*(const vm_vec *)(t.state->sums + i * LANES)))) <= SAFE;
    return fit;
}

static void run_task(const struct head_layout *s, int64_t task, struct workspace *work)
{
    const struct attention_args *a = s->a;
    int64_t groups = blocks_of(a->heads, s->group);
    bool biased = mat_present(a->bias);
    struct head_block its = biased ? (struct head_block){task / groups, task % groups * s->group}
                                   : head_block_at(a->graphs, s->queries, a->heads, task);
    struct tile t = {
        block_at(a->graphs, s->queries, its.number), its.head, false, (void *)work->states, NULL, NULL};
    int heads = (int)min_of(s->group, a->heads - t.h);
    if (t.b.rows == 0 || graph_size(s->key_rows, t.b.graph) == 0) {
        for (int h = 0; h < heads; h++)
            keep_rows(s, t.b, t.h + h);
        return;
    }
    t.online = biased ? mat_present(a->m) : !safe(s, t.b, t.h);
    attend(s, t, heads, work);
    for (int h = 0; h < heads; h++) {
        struct tile its_head = head_of(s, t, h);
        if (biased && !t.online && !sums_fit(its_head)) {
            its_head.online = true;
            attend(s, its_head, 1, work);
        }
        for (int64_t i = 0; i < t.b.rows; i++)
            end_row(s, its_head, i);
    }
}

/* Lays out the scratch buffer; `bytes` is its size. */
static struct head_layout heads_of(const struct attention_args *a, int64_t *bytes)
{
    int64_t dh = a->q.cols / a->heads, packed = float_bytes(packed_size(a));
    bool biased = mat_present(a->bias);
    struct head_layout s = {.a = a, .dh = dh, .width = round_up(dh, LANES)};
    s.folds = mat_present(a->from);
    s.key_rows = s.folds ? a->keys : a->graphs;
    s.scale = VM_LOG2E * (float)(1 / sqrt((double)dh));
    s.blocks = block_count(a->graphs, a->k.rows, KEYS);
    s.queries = biased ? BIASED : QUERIES;
    s.group = biased ? min_of(GROUP, a->heads) : 1;
    s.per_head = (int64_t)sizeof(struct state) + float_bytes(s.queries * dh + biased * s.queries * KEYS);
    int64_t lengths = float_bytes(s.blocks * a->heads);
    char *at = a->call.scratch;
    int64_t pairs = mat_present(a->schedule) || biased ? round_up(graph_count(a->graphs) * 8, 64) : 0;
    s.per_thread = (int64_t)sizeof(struct workspace) + s.group * s.per_head + THREAD_GAP;
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
    int64_t tasks = block_count(a->graphs, a->q.rows, s->queries) * blocks_of(a->heads, s->group);
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
            run_task(s, t.number, work);
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
