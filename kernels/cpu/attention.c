/*
 * Dense multi-head attention within each graph of a batch, without a score matrix: y = softmax(q k' scale) v
 * with scale = (D / H)^-1/2, per head, and lse = log sum exp of each row's scaled scores. q, k, v, y: N x D,
 * lse: N x H.
 *
 * First k' and v of every head and graph are packed for gemm.h. Then a task is QUERIES rows of one head: keys
 * come KEYS at a time, and y accumulates in place. Scores of a row lie within scale |q_i| max |k_j| of zero
 * (Cauchy and Schwarz). Where that is at most SAFE, their exponentials are taken as they are; otherwise the
 * row's running maximum is subtracted, and sum and y are corrected as it grows (Milakov and Gimelshein,
 * "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022).
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vector_math.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define SAFE 30.0f /* e^30 sums over any number of keys, and e^-30 is no denormal */

enum { QUERIES = 48, KEYS = 256, LANES = GEMM_LANES };

struct heads {
    const struct attention_args *a;
    int64_t dh, width; /* columns of a head, and as packed */
    int64_t blocks;    /* of keys, for each head */
    float scale;
    float *keys, *values; /* packed */
    float *lengths;       /* H x blocks: the largest |k|^2 of each block */
};

/* The state of a query block: per row what is subtracted from the scores, and the sum so far, in lanes. */
struct room {
    bool safe[QUERIES];
    float top[QUERIES], sum[QUERIES * LANES], scores[QUERIES * KEYS];
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

static float dot(int64_t n, const float *x, const float *y)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

static void pack(const struct heads *s, int64_t number, int64_t h)
{
    const struct attention_args *a = s->a;
    struct block b = block_at(a->graphs, KEYS, number);
    int64_t at = packed_at(s, b.graph, h), before = b.first - graph_first(a->graphs, b.graph);
    const float *k = row_of(a->k, b.first) + h * s->dh;
    gemm_pack(s->dh, b.rows, gemm_transposed(k, a->k.ld), s->keys + at + before * s->dh);
    gemm_pack(b.rows, s->dh, gemm_in(row_of(a->v, b.first) + h * s->dh, a->v.ld),
              s->values + at + before * s->width);
    float longest = 0;
    for (int64_t i = 0; i < b.rows; i++, k += a->k.ld)
        longest = fmaxf(longest, dot(s->dh, k, k));
    s->lengths[h * s->blocks + number] = longest;
}

/* The largest |k|^2 of graph g. */
static float longest_key(const struct heads *s, int64_t g, int64_t h)
{
    const float *lengths = s->lengths + h * s->blocks + block_first(s->a->graphs, KEYS, g);
    float longest = 0;
    for (int64_t b = 0; b < blocks_of(graph_size(s->a->graphs, g), KEYS); b++)
        longest = fmaxf(longest, lengths[b]);
    return longest;
}

/*
 * p = exp(scale (s - top)) in place, added to the lanes of sum. The rest of the last vector counts as 0. The
 * difference comes first: the largest score then gives exactly 1, however huge it is and whatever is fused.
 */
static void exponentials(int64_t n, float *restrict s, float scale, float top, float *restrict sum)
{
    for (int64_t j = n; j < round_up(n, LANES); j++)
        s[j] = -INFINITY;
    for (int64_t j = 0; j < n; j += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            s[j + l] = vm_half_exp((s[j + l] - top) * scale + VM_LN2);
            sum[l] += s[j + l];
        }
    }
}

/* In lanes, since compilers vectorise no maximum of floats that might be NaN. */
static float largest(int64_t n, const float *s)
{
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

/* Lets the row's maximum grow to that of more scores. */
static void raise_top(const struct heads *s, struct room *room, int64_t i, int64_t keys, bool first, float *y)
{
    float top = largest(keys, room->scores + i * KEYS);
    if (!first && top > room->top[i]) {
        float correction = vm_exp((room->top[i] - top) * s->scale);
        multiply(LANES, room->sum + i * LANES, correction);
        multiply(s->dh, y, correction);
    }
    if (first || top > room->top[i])
        room->top[i] = top;
}

static void begin_rows(const struct heads *s, struct room *room, struct block b, int64_t h)
{
    float longest = longest_key(s, b.graph, h);
    memset(room->sum, 0, sizeof room->sum);
    for (int64_t i = 0; i < b.rows; i++) {
        const float *q = row_of(s->a->q, b.first + i) + h * s->dh;
        room->safe[i] = s->scale * sqrtf(dot(s->dh, q, q) * longest) <= SAFE;
        room->top[i] = 0;
    }
}

static void end_row(const struct heads *s, const struct room *room, int64_t i, int64_t row, int64_t h)
{
    float sum = 0;
    for (int l = 0; l < LANES; l++)
        sum += room->sum[i * LANES + l];
    multiply(s->dh, row_of(s->a->y, row) + h * s->dh, 1 / sum);
    if (mat_present(s->a->lse))
        row_of(s->a->lse, row)[h] = room->top[i] * s->scale + logf(sum);
}

static void attend(const struct heads *s, int64_t number, int64_t h, struct room *room)
{
    const struct attention_args *a = s->a;
    struct block b = block_at(a->graphs, QUERIES, number);
    int64_t n = b.rows > 0 ? graph_size(a->graphs, b.graph) : 0, at = packed_at(s, b.graph, h);
    struct gemm_in q = gemm_in(row_of(a->q, b.first) + h * s->dh, a->q.ld);
    float *y = row_of(a->y, b.first) + h * s->dh;
    begin_rows(s, room, b, h);
    for (int64_t j = 0; j < n; j += KEYS) {
        int64_t keys = min_of(KEYS, n - j);
        gemm_packed(b.rows, round_up(keys, LANES), s->dh, q, s->keys + at + j * s->dh, room->scores, KEYS,
                    false);
        for (int64_t i = 0; i < b.rows; i++) {
            if (!room->safe[i])
                raise_top(s, room, i, keys, j == 0, y + i * a->y.ld);
            exponentials(keys, room->scores + i * KEYS, s->scale, room->top[i], room->sum + i * LANES);
        }
        gemm_packed(b.rows, s->dh, keys, gemm_in(room->scores, KEYS), s->values + at + j * s->width, y,
                    a->y.ld, j > 0);
    }
    for (int64_t i = 0; i < b.rows; i++)
        end_row(s, room, i, b.first + i, h);
}

/* Lays scratch out; bytes is how much there is of it. */
static struct heads heads_of(const struct attention_args *a, struct room **rooms, int64_t *bytes)
{
    int64_t n = a->q.rows, dh = a->q.cols / a->heads, packed = float_bytes(packed_size(a));
    struct heads s = {.a = a, .dh = dh, .width = round_up(dh, LANES), .scale = (float)(1 / sqrt((double)dh))};
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
