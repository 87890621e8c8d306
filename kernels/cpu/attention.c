/*
 * Dense multi-head attention within each graph of a batch, without a score matrix: y = softmax(q k' scale) v
 * with scale = (D / H)^-1/2, per head, and lse = log sum exp of each row's scaled scores. q, k, v, y: N x D,
 * lse: N x H.
 *
 * First k' and v of every head and graph are packed for gemm.h, k' times scale log2(e), so that scores are
 * exponents of 2. Then a task is QUERIES rows of one head: keys come KEYS at a time, weights 2^score are made
 * in the registers that hold the scores, and y accumulates in place. Scores lie within |q_i| max |k_j| of
 * zero (Cauchy and Schwarz). Where that is at most SAFE in all rows, their powers are taken as they are;
 * otherwise scores are computed twice, first to raise each row's running maximum, which is then subtracted,
 * while sum and y are corrected as it grows (Milakov and Gimelshein, "Online normalizer calculation for
 * softmax", 2018; Dao et al., "FlashAttention", 2022).
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define SAFE 43.0f /* 2^43 sums over any number of keys, and 2^-43 is no denormal */

enum { QUERIES = 48, KEYS = 256, LANES = GEMM_LANES };

struct heads {
    const struct attention_args *a;
    int64_t dh, width;    /* columns of a head, and as packed */
    int64_t blocks;       /* of keys, for each head */
    float scale;          /* of scores, with log2(e) */
    float *keys, *values; /* packed */
    float *lengths;       /* H x blocks: the largest |k|^2 of each block */
};

/* The state of a query block: weights of a block of keys, per row their sum so far, in lanes, and what is
 * subtracted from the scores. */
struct room {
    float weights[QUERIES * KEYS], sums[QUERIES * LANES], top[QUERIES];
};

/* Packed keys (dh x n) and values (n x dh) of graph g and head h begin here: every graph has room for up to
 * GEMM_LANES rows more than it needs. */
static int64_t packed_at(const struct heads *s, int64_t g, int64_t h)
{
    int64_t rows = graph_first(s->a->graphs, g) + g * GEMM_LANES;
    return (rows * s->a->heads + h * (graph_size(s->a->graphs, g) + GEMM_LANES)) * s->width;
}

static int64_t packed_size(const struct attention_args *a)
{
    int64_t rows = a->q.rows + graph_count(a->graphs) * GEMM_LANES;
    return rows * a->heads * round_up(a->q.cols / a->heads, GEMM_LANES);
}

/* The largest |x|^2 of rows of dh elements. */
static float longest(const struct heads *s, int64_t rows, const float *x, int64_t ld)
{
    float most = 0;
    for (int64_t i = 0; i < rows; i++, x += ld) {
        float length = vm_dot(s->dh, x, x);
        most = length > most ? length : most;
    }
    return most;
}

static void pack(const struct heads *s, int64_t number, int64_t h)
{
    const struct attention_args *a = s->a;
    struct block b = block_at(a->graphs, KEYS, number);
    int64_t at = packed_at(s, b.graph, h), before = b.first - graph_first(a->graphs, b.graph);
    const float *k = row_of(a->k, b.first) + h * s->dh;
    float *keys = s->keys + at + before * s->dh;
    gemm_pack(s->dh, b.rows, gemm_transposed(k, a->k.ld), keys);
    gemm_scale(gemm_packed_size(s->dh, b.rows), keys, s->scale);
    gemm_pack(b.rows, s->dh, gemm_in(row_of(a->v, b.first) + h * s->dh, a->v.ld),
              s->values + at + before * s->width);
    s->lengths[h * s->blocks + number] = longest(s, b.rows, k, a->k.ld);
}

/* Whether no score of a block of queries is farther than SAFE from zero. */
static bool safe(const struct heads *s, struct block b, int64_t h)
{
    const float *lengths = s->lengths + h * s->blocks + block_first(s->a->graphs, KEYS, b.graph);
    float most = 0;
    for (int64_t i = 0; i < blocks_of(graph_size(s->a->graphs, b.graph), KEYS); i++)
        most = lengths[i] > most ? lengths[i] : most;
    most *= longest(s, b.rows, row_of(s->a->q, b.first) + h * s->dh, s->a->q.ld);
    return s->scale * sqrtf(most) <= SAFE;
}

/* Lets the row's maximum grow to that of more scores. */
static void raise_top(const struct heads *s, struct room *room, int64_t i, int64_t keys, bool first, float *y)
{
    float top = vm_largest(keys, room->weights + i * KEYS);
    if (!first && top > room->top[i]) {
        float correction = exp2f(room->top[i] - top);
        gemm_scale(LANES, room->sums + i * LANES, correction);
        gemm_scale(s->dh, y, correction);
    }
    if (first || top > room->top[i])
        room->top[i] = top;
}

static void end_row(const struct heads *s, const struct room *room, int64_t i, int64_t row, int64_t h)
{
    float sum = vm_sum(*(const vm_vec *)(room->sums + i * LANES));
    gemm_scale(s->dh, row_of(s->a->y, row) + h * s->dh, 1 / sum);
    if (mat_present(s->a->lse))
        row_of(s->a->lse, row)[h] = (room->top[i] + log2f(sum)) * VM_LN2;
}

static void attend(const struct heads *s, int64_t number, int64_t h, struct room *room)
{
    const struct attention_args *a = s->a;
    struct block b = block_at(a->graphs, QUERIES, number);
    int64_t n = b.rows > 0 ? graph_size(a->graphs, b.graph) : 0, at = packed_at(s, b.graph, h);
    struct gemm_in q = gemm_in(row_of(a->q, b.first) + h * s->dh, a->q.ld);
    float *y = row_of(a->y, b.first) + h * s->dh;
    bool online = !safe(s, b, h);
    memset(room->sums, 0, (size_t)(round_up(b.rows, GEMM_ROWS) * LANES) * sizeof(float));
    memset(room->top, 0, sizeof room->top);
    for (int64_t j = 0; j < n; j += KEYS) {
        int64_t keys = min_of(KEYS, n - j);
        const float *packed = s->keys + at + j * s->dh;
        if (online) {
            gemm_fused(b.rows, keys, s->dh, q, packed, room->weights, KEYS,
                       (struct gemm_end){.kind = GEMM_STORE});
            for (int64_t i = 0; i < b.rows; i++)
                raise_top(s, room, i, keys, j == 0, y + i * a->y.ld);
        }
        struct gemm_end end = {GEMM_WEIGHTS, room->top, NULL, room->sums};
        gemm_fused(b.rows, keys, s->dh, q, packed, room->weights, KEYS, end);
        gemm_packed(b.rows, s->dh, keys, gemm_in(room->weights, KEYS), s->values + at + j * s->width, y,
                    a->y.ld, j > 0);
    }
    for (int64_t i = 0; i < b.rows; i++)
        end_row(s, room, i, b.first + i, h);
}

/* Lays scratch out; bytes is how much there is of it. */
static struct heads heads_of(const struct attention_args *a, struct room **rooms, int64_t *bytes)
{
    int64_t n = a->q.rows, dh = a->q.cols / a->heads, packed = float_bytes(packed_size(a));
    struct heads s = {
        .a = a, .dh = dh, .width = round_up(dh, LANES), .scale = VM_LOG2E * (float)(1 / sqrt((double)dh))};
    s.blocks = block_count(a->graphs, n, KEYS);
    int64_t lengths = float_bytes(s.blocks * a->heads);
    char *at = a->call.scratch;
    *bytes = 2 * packed + lengths + a->call.threads * (int64_t)sizeof(struct room);
    if (at) {
        s.keys = (float *)at;
        s.values = (float *)(at + packed);
        s.lengths = (float *)(at + 2 * packed);
        *rooms = (struct room *)(at + 2 * packed + lengths);
    }
    return s;
}

void CPU(attention)(const void *args)
{
    const struct attention_args *a = args;
    struct room *rooms;
    int64_t bytes, n = a->q.rows;
    struct heads s = heads_of(a, &rooms, &bytes);
    int threads = threads_for(&a->call, a->graphs.pairs * a->q.cols, 1 << 15);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for collapse(2) schedule(static)
        for (int h = 0; h < a->heads; h++)
            for (int64_t b = 0; b < s.blocks; b++)
                pack(&s, b, h);
#pragma omp for collapse(2) schedule(dynamic) nowait
        for (int h = 0; h < a->heads; h++)
            for (int64_t b = 0; b < block_count(a->graphs, n, QUERIES); b++)
                attend(&s, b, h, rooms + omp_get_thread_num());
    }
}

int64_t CPU(attention_scratch)(const void *args)
{
    struct room *rooms;
    int64_t bytes;
    heads_of(args, &rooms, &bytes);
    return bytes;
}
