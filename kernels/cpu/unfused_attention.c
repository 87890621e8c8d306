/*
 * Attention in steps that store their results, as an eager framework runs it: scores, their softmax and the
 * product with the values, and their backwards. Row h of s and p (H x P) holds the pairs of head h: graph
 * after graph, each an n x n block with a row per query.
 *
 *   s = q k' scale        dq (+)= ds k scale, dk (+)= ds' q scale     scale = (D / H)^-1/2
 *   p = softmax(s)        ds (+)= p * (dp - row sums of dp * p)
 *   y = p v               dp (+)= dy v', dv (+)= p' dy
 *
 * There are three kinds of product, all using gemm.h: pairs from two matrices of nodes, and pairs or their
 * transpose times a matrix of nodes. The right operand of every graph and head is scaled and packed once, by
 * one task; then a task is ROWS rows of a graph's result for one head.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    ROWS = 96,
    COLS = 2048,    /* of pairs written at a time; their right operand fits the second-level cache */
    KEYS = 256,     /* rows of a result of transposed pairs, */
    DEPTH = 128,    /* of which this many rows at a time are copied */
    LD = KEYS + 16, /* leading dimension of the copy: not a power of two, since columns are read */
    SOFTMAX_ROWS = 32,
};

/* Graphs, heads, and the layout of scratch: the offset of each graph's pairs in a row, and right operands. */
struct layout {
    struct call call;
    struct offsets graphs;
    int64_t nodes, heads, dh, width; /* columns of a head, actual and as packed */
    int64_t *pairs;
    float *packed, *workspaces; /* the latter per thread, DEPTH x LD */
};

static struct layout layout_of(struct call call, struct offsets graphs, int64_t heads, struct mat nodes,
                               int64_t *bytes)
{
    int64_t dh = nodes.cols / heads, count = graph_count(graphs), pairs = round_up(count * 8, 64);
    struct layout l = {.call = call, .graphs = graphs, .nodes = nodes.rows, .heads = heads, .dh = dh};
    l.width = round_up(dh, GEMM_LANES);
    int64_t packed = float_bytes((nodes.rows + count * GEMM_LANES) * heads * l.width);
    *bytes = pairs + packed + call.threads * float_bytes(DEPTH * LD);
    if (call.scratch) {
        l.pairs = call.scratch;
        l.packed = (float *)((char *)call.scratch + pairs);
        l.workspaces = (float *)((char *)call.scratch + pairs + packed);
    }
    return l;
}

static int64_t scratch_of(struct call call, struct offsets graphs, int64_t heads, struct mat nodes)
{
    int64_t bytes;
    layout_of(call, graphs, heads, nodes, &bytes);
    return bytes;
}

static struct layout begin(struct call call, struct offsets graphs, int64_t heads, struct mat nodes)
{
    int64_t bytes;
    struct layout l = layout_of(call, graphs, heads, nodes, &bytes);
    begin_pairs(graphs, graphs, l.pairs);
    return l;
}

/* Each graph has padding for GEMM_LANES more rows. */
static float *packed_at(const struct layout *l, int64_t g, int64_t h)
{
    int64_t rows = l->nodes + graph_count(l->graphs) * GEMM_LANES;
    return l->packed + (h * rows + graph_first(l->graphs, g) + g * GEMM_LANES) * l->width;
}

/* Head h of the rows of graph g, scaled: DEPTH rows at a time, or its whole transpose. */
static void pack_head(const struct layout *l, struct mat right, bool transposed, float scale, int64_t g,
                      int64_t h)
{
    int64_t n = graph_size(l->graphs, g);
    const float *from = row_of(right, graph_first(l->graphs, g)) + h * l->dh;
    float *to = packed_at(l, g, h);
    if (transposed)
        gemm_pack(l->dh, n, gemm_transposed(from, right.ld), to);
    for (int64_t p = 0; p < n && !transposed; p += DEPTH)
        gemm_pack(min_of(DEPTH, n - p), l->dh, gemm_in(from + p * right.ld, right.ld), to + p * l->width);
    gemm_scale(transposed ? gemm_packed_size(l->dh, n) : gemm_packed_size(n, l->dh), to, scale);
}

/* To be called by all threads of a parallel region. */
static void pack(const struct layout *l, struct mat right, bool transposed, float scale)
{
#pragma omp for collapse(2) schedule(dynamic)
    for (int64_t h = 0; h < l->heads; h++)
        for (int64_t g = 0; g < graph_count(l->graphs); g++)
            pack_head(l, right, transposed, scale, g, h);
}

static int threads_of(const struct layout *l)
{
    return threads_for(&l->call, l->graphs.pairs * l->heads * l->dh, 1 << 15);
}

/* The n x n block of graph g and head h. */
static float *pairs_at(const struct layout *l, struct mat pairs, int64_t g, int64_t h)
{
    return row_of(pairs, h) + l->pairs[g];
}

/*
 * A block of rows of the pairs of head h, a row of tiles at a time: few rows are best written in long runs.
 */
static void block_of_pairs(const struct layout *l, struct mat pairs, struct mat left, int64_t h,
                           struct block b)
{
    int64_t n = graph_size(l->graphs, b.graph), before = b.first - graph_first(l->graphs, b.graph);
    const float *packed = packed_at(l, b.graph, h);
    float *to = pairs_at(l, pairs, b.graph, h) + before * n;
    for (int64_t j = 0; j < n; j += COLS)
        for (int64_t i = 0; i < b.rows; i += GEMM_ROWS)
            gemm_packed(min_of(GEMM_ROWS, b.rows - i), min_of(COLS, n - j), l->dh,
                        gemm_in(row_of(left, b.first + i) + h * l->dh, left.ld), packed + j * l->dh,
                        to + i * n + j, n, pairs.acc);
}

/* pairs (+)= scale left right' */
static void make_pairs(const struct layout *l, struct mat pairs, struct mat left, struct mat right,
                       float scale)
{
    int64_t blocks = block_count(l->graphs, l->nodes, ROWS);
#pragma omp parallel num_threads(threads_of(l))
    {
        pack(l, right, true, scale);
#pragma omp for collapse(2) schedule(dynamic) nowait
        for (int64_t h = 0; h < l->heads; h++)
            for (int64_t number = 0; number < blocks; number++)
                block_of_pairs(l, pairs, left, h, block_at(l->graphs, ROWS, number));
    }
}

/* Columns first .. of `rows` rows of pairs, transposed; each is read once, along rows. */
static struct gemm_in turned(const float *from, int64_t n, int64_t rows, int64_t cols, float *work)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(work + i * LD, from + i * n, (size_t)cols * sizeof(float));
    return gemm_transposed(work, LD);
}

static void block_of_nodes(const struct layout *l, struct mat to, struct mat pairs, int64_t h, struct block b,
                           float *work)
{
    int64_t n = graph_size(l->graphs, b.graph), before = b.first - graph_first(l->graphs, b.graph);
    const float *from = pairs_at(l, pairs, b.graph, h), *packed = packed_at(l, b.graph, h);
    for (int64_t p = 0; p < n && b.rows > 0; p += DEPTH) {
        int64_t depth = min_of(DEPTH, n - p);
        struct gemm_in left =
            work ? turned(from + p * n + before, n, depth, b.rows, work) : gemm_in(from + before * n + p, n);
        gemm_packed(b.rows, l->dh, depth, left, packed + p * l->width, row_of(to, b.first) + h * l->dh, to.ld,
                    to.acc || p > 0);
    }
}

/* to (+)= scale pairs right, or scale pairs' right */
static void apply_pairs(const struct layout *l, struct mat to, struct mat pairs, bool transposed,
                        struct mat right, float scale)
{
    int64_t rows = transposed ? KEYS : ROWS, blocks = block_count(l->graphs, l->nodes, rows);
#pragma omp parallel num_threads(threads_of(l))
    {
        float *work = transposed ? l->workspaces + omp_get_thread_num() * (DEPTH * LD) : NULL;
        pack(l, right, false, scale);
#pragma omp for collapse(2) schedule(dynamic) nowait
        for (int64_t h = 0; h < l->heads; h++)
            for (int64_t number = 0; number < blocks; number++)
                block_of_nodes(l, to, pairs, h, block_at(l->graphs, rows, number), work);
    }
}

static float scale_of(const struct layout *l)
{
    return (float)(1 / sqrt((double)l->dh));
}

void CPU(attention_scores)(const void *args)
{
    const struct attention_scores_args *a = args;
    struct layout l = begin(a->call, a->graphs, a->heads, a->q);
    make_pairs(&l, a->s, a->q, a->k, scale_of(&l));
}

int64_t CPU(attention_scores_scratch)(const void *args)
{
    const struct attention_scores_args *a = args;
    return scratch_of(a->call, a->graphs, a->heads, a->q);
}

void CPU(attention_scores_backward)(const void *args)
{
    const struct attention_scores_backward_args *a = args;
    struct layout l = begin(a->call, a->graphs, a->heads, a->q);
    if (mat_present(a->dq))
        apply_pairs(&l, a->dq, a->ds, false, a->k, scale_of(&l));
    if (mat_present(a->dk))
        apply_pairs(&l, a->dk, a->ds, true, a->q, scale_of(&l));
}

int64_t CPU(attention_scores_backward_scratch)(const void *args)
{
    const struct attention_scores_backward_args *a = args;
    return scratch_of(a->call, a->graphs, a->heads, a->q);
}

void CPU(attention_values)(const void *args)
{
    const struct attention_values_args *a = args;
    struct layout l = begin(a->call, a->graphs, a->heads, a->v);
    apply_pairs(&l, a->y, a->p, false, a->v, 1);
}

int64_t CPU(attention_values_scratch)(const void *args)
{
    const struct attention_values_args *a = args;
    return scratch_of(a->call, a->graphs, a->heads, a->v);
}

void CPU(attention_values_backward)(const void *args)
{
    const struct attention_values_backward_args *a = args;
    struct layout l = begin(a->call, a->graphs, a->heads, a->v);
    if (mat_present(a->dp))
        make_pairs(&l, a->dp, a->dy, a->v, 1);
    if (mat_present(a->dv))
        apply_pairs(&l, a->dv, a->p, true, a->dy, 1);
}

int64_t CPU(attention_values_backward_scratch)(const void *args)
{
    const struct attention_values_backward_args *a = args;
    return scratch_of(a->call, a->graphs, a->heads, a->v);
}

/* One query: p = exp(s - max s) / sum. Exponentials are computed as halves, which cancels. */
static void softmax(int64_t n, float *restrict p, const float *restrict s)
{
    float top = vm_largest(n, s), sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; j++) {
        p[j] = vm_half_exp(s[j] - top);
        sum += p[j];
    }
    float share = 1 / sum;
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        p[j] *= share;
}

static void softmax_backward(int64_t n, float *restrict ds, bool acc, const float *restrict dp,
                             const float *restrict p)
{
    float delta = 0;
#pragma omp simd reduction(+ : delta)
    for (int64_t j = 0; j < n; j++)
        delta += dp[j] * p[j];
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        ds[j] = (acc ? ds[j] : 0) + p[j] * (dp[j] - delta);
}

/* The first pair of block b, whose rows are contiguous. */
static int64_t block_pairs(struct offsets graphs, const int64_t *pairs, struct block b)
{
    return pairs[b.graph] + (b.first - graph_first(graphs, b.graph)) * graph_size(graphs, b.graph);
}

void CPU(attention_softmax)(const void *args)
{
    const struct attention_softmax_args *a = args;
    int64_t blocks = block_count(a->graphs, graph_first(a->graphs, graph_count(a->graphs)), SOFTMAX_ROWS);
    begin_pairs(a->graphs, a->graphs, a->call.scratch);
    int threads = threads_for(&a->call, mat_size(a->s), 1 << 13);
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(threads)
    for (int64_t h = 0; h < a->s.rows; h++)
        for (int64_t number = 0; number < blocks; number++) {
            struct block b = block_at(a->graphs, SOFTMAX_ROWS, number);
            int64_t n = graph_size(a->graphs, b.graph), at = block_pairs(a->graphs, a->call.scratch, b);
            for (int64_t i = 0; i < b.rows; i++, at += n)
                softmax(n, row_of(a->p, h) + at, row_of(a->s, h) + at);
        }
}

int64_t CPU(attention_softmax_scratch)(const void *args)
{
    return graph_count(((const struct attention_softmax_args *)args)->graphs) * (int64_t)sizeof(int64_t);
}

void CPU(attention_softmax_backward)(const void *args)
{
    const struct attention_softmax_backward_args *a = args;
    int64_t blocks = block_count(a->graphs, graph_first(a->graphs, graph_count(a->graphs)), SOFTMAX_ROWS);
    begin_pairs(a->graphs, a->graphs, a->call.scratch);
    int threads = threads_for(&a->call, mat_size(a->p), 1 << 13);
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(threads)
    for (int64_t h = 0; h < a->p.rows; h++)
        for (int64_t number = 0; number < blocks; number++) {
            struct block b = block_at(a->graphs, SOFTMAX_ROWS, number);
            int64_t n = graph_size(a->graphs, b.graph), at = block_pairs(a->graphs, a->call.scratch, b);
            for (int64_t i = 0; i < b.rows; i++, at += n)
                softmax_backward(n, row_of(a->ds, h) + at, a->ds.acc, row_of(a->dp, h) + at,
                                 row_of(a->p, h) + at);
        }
}

int64_t CPU(attention_softmax_backward_scratch)(const void *args)
{
    return graph_count(((const struct attention_softmax_backward_args *)args)->graphs) *
           (int64_t)sizeof(int64_t);
}
