/*
 * Dense multi-head attention within each graph of a batch, without a score matrix: y = softmax(q k' scale) v with
 * scale = (D / H)^-1/2, per head, and lse = log sum exp of each row's scaled scores. q, k, v, y: N x D, lse: N x H.
 *
 * First k' and v of every head and graph are packed for gemm.h. Then a task is QUERIES rows of one head: keys come
 * KEYS at a time, the running maximum and sum of each row are corrected as they change (Milakov and Gimelshein,
 * "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022), and y accumulates in
 * place.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"

#include <math.h>
#include <omp.h>

enum { QUERIES = 48, KEYS = 256 };

struct heads {
    const struct attention_args *a;
    int64_t dh, width;         /* columns of a head, and as packed */
    float scale, *keys, *values; /* packed */
};

/* A query block's running maximum and sum of each row, and scores. */
struct room {
    float top[QUERIES], sum[QUERIES], scores[QUERIES * KEYS];
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

static void pack(const struct heads *s, int64_t number, int64_t h)
{
    const struct attention_args *a = s->a;
    struct block b = block_at(a->graphs, KEYS, number);
    int64_t at = packed_at(s, b.graph, h), before = b.first - graph_first(a->graphs, b.graph);
    CPU(gemm_pack)(s->dh, b.rows, gemm_transposed(row_of(a->k, b.first) + h * s->dh, a->k.ld),
                   s->keys + at + before * s->dh);
    CPU(gemm_pack)(b.rows, s->dh, gemm_in(row_of(a->v, b.first) + h * s->dh, a->v.ld),
                   s->values + at + before * s->width);
}

/* p = exp(scale s - top), in place; returns the sum. */
static float exponentials(int64_t n, float *restrict s, float scale, float top)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; j++) {
        s[j] = vm_exp(s[j] * scale - top);
        sum += s[j];
    }
    return sum;
}

/* In lanes, since compilers vectorise no maximum of floats that might be NaN. */
static float largest(int64_t n, const float *s)
{
    enum { LANES = 2 * GEMM_LANES };
    float lane[LANES], top = s[0];
    for (int l = 0; l < LANES; l++)
        lane[l] = top;
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] = s[j + l] > lane[l] ? s[j + l] : lane[l];
    for (; j < n; j++)
        top = s[j] > top ? s[j] : top;
    for (int l = 0; l < LANES; l++)
        top = lane[l] > top ? lane[l] : top;
    return top;
}

static void multiply(int64_t n, float *restrict y, float factor)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++)
        y[k] *= factor;
}

/* Scores of one row become exponentials; its maximum, sum and y are brought up to date. */
static void soften(const struct heads *s, struct room *room, int64_t i, int64_t keys, bool first, float *y)
{
    float *scores = room->scores + i * KEYS, top = largest(keys, scores) * s->scale;
    if (!first && top > room->top[i]) {
        float correction = vm_exp(room->top[i] - top);
        room->sum[i] *= correction;
        multiply(s->dh, y, correction);
    }
    room->top[i] = first || top > room->top[i] ? top : room->top[i];
    room->sum[i] = (first ? 0 : room->sum[i]) + exponentials(keys, scores, s->scale, room->top[i]);
}

static void attend(const struct heads *s, int64_t number, int64_t h, struct room *room)
{
    const struct attention_args *a = s->a;
    struct block b = block_at(a->graphs, QUERIES, number);
    int64_t n = graph_size(a->graphs, b.graph), at = packed_at(s, b.graph, h);
    struct gemm_in q = gemm_in(row_of(a->q, b.first) + h * s->dh, a->q.ld);
    float *y = row_of(a->y, b.first) + h * s->dh;
    for (int64_t j = 0; j < n && b.rows > 0; j += KEYS) {
        int64_t keys = min_of(KEYS, n - j);
        CPU(gemm_packed)(b.rows, keys, s->dh, q, s->keys + at + j * s->dh, room->scores, KEYS, false);
        for (int64_t i = 0; i < b.rows; i++)
            soften(s, room, i, keys, j == 0, y + i * a->y.ld);
        CPU(gemm_packed)(b.rows, s->dh, keys, gemm_in(room->scores, KEYS), s->values + at + j * s->width, y,
                         a->y.ld, j > 0);
    }
    for (int64_t i = 0; i < b.rows; i++) {
        multiply(s->dh, y + i * a->y.ld, 1 / room->sum[i]);
        if (mat_present(a->lse))
            row_of(a->lse, b.first + i)[h] = room->top[i] + logf(room->sum[i]);
    }
}

void CPU(attention)(const void *args)
{
    const struct attention_args *a = args;
    int64_t n = a->q.rows, dh = a->q.cols / a->heads;
    float *packed = a->call.scratch;
    struct heads s = {a,      dh,
                      round_up(dh, GEMM_LANES),
                      (float)(1 / sqrt((double)dh)),
                      packed, packed + float_bytes(packed_size(a)) / 4};
    struct room *rooms = (struct room *)(packed + 2 * float_bytes(packed_size(a)) / 4);
    int threads = threads_for(&a->call, a->graphs.pairs * a->q.cols, 1 << 15);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for collapse(2) schedule(static)
        for (int h = 0; h < a->heads; h++)
            for (int64_t b = 0; b < block_count(a->graphs, n, KEYS); b++)
                pack(&s, b, h);
#pragma omp for collapse(2) schedule(dynamic) nowait
        for (int h = 0; h < a->heads; h++)
            for (int64_t b = 0; b < block_count(a->graphs, n, QUERIES); b++)
                attend(&s, b, h, rooms + omp_get_thread_num());
    }
}

int64_t CPU(attention_scratch)(const void *args)
{
    const struct attention_args *a = args;
    return 2 * float_bytes(packed_size(a)) + a->call.threads * (int64_t)sizeof(struct room);
}
