/*
 * Shared by the kernels of linear attention, whose mathematics is in ref/performer.c.
 *
 * A task is PART rows of one graph, for one head. It processes BLOCK rows at a time: their features, BLOCK x
 * M, are computed by gemm.h in scratch of the thread, and stay in the second-level cache until they are used.
 * There they have no eps, whose part of every product is of rank 1 and is added to the result. W is packed
 * once for each call.
 *
 * Sums over the rows of a graph have an accumulator for each of its parts: the output for the first part,
 * scratch for the others, which are then added in order.
 */
#ifndef GTMARK_KERNELS_CPU_PERFORMER_H
#define GTMARK_KERNELS_CPU_PERFORMER_H

#include "kernels/cpu/blocks.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/tasks.h"
#include "kernels/cpu/vector_math.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 96, PART = 16 * BLOCK, GAP = THREAD_GAP / sizeof(float) };

/* Sizes, and what scratch contains. */
struct performer {
    const void *args; /* of the kernel */
    /* The kernel's work on a part that has rows, and then on a row of the features, if any. */
    void (*part)(const struct performer *p, struct block part, int64_t number, int64_t h);
    void (*row)(const struct performer *p, int64_t row);
    bool exponential; /* features of the softmax, otherwise the rectifier */
    int64_t m, c, ld; /* features; columns of a head; leading dimension of features, no power of two */
    int64_t rows, heads, parts; /* rows: of queries or keys */
    float scale;                /* of rows and of w */
    struct offsets graphs;
    float *project, *back; /* w' (C x M) and w (M x C), scaled and packed */
    float *more;           /* accumulators of parts that are not the first: `sums` floats each */
    int64_t sums;
    float *workspaces; /* of threads: `per_thread` floats each, then THREAD_GAP */
    int64_t per_thread;
    struct task_queue *queues;
};

/* Lays out the scratch of a call, and returns its bytes. */
static inline int64_t performer_lay_out(struct performer *p, const struct call *call)
{
    float *queues;
    const struct scratch_part parts[] = {{&p->project, gemm_packed_size(p->c, p->m)},
                                         {&p->back, gemm_packed_size(p->m, p->c)},
                                         {&p->more, p->rows / PART * p->heads * p->sums},
                                         {&p->workspaces, (p->per_thread + GAP) * call->threads},
                                         {&queues, task_queues_size(call->threads)}};
    int64_t floats = SCRATCH(call->scratch, parts);
    p->queues = (struct task_queue *)(void *)queues;
    return 4 * floats;
}

static inline struct performer performer_of(const void *args, int features, struct mat w,
                                            struct offsets graphs, int heads, int64_t rows)
{
    struct performer p = {
        .args = args, .exponential = features == FEATURES_EXP, .m = w.rows, .c = w.cols, .heads = heads};
    p.ld = round_up(p.m, GEMM_LANES) + 16;
    p.scale = p.exponential ? (float)pow((double)p.c, -0.25) : 1;
    p.graphs = graphs;
    p.rows = rows;
    p.parts = block_count(graphs, rows, PART);
    return p;
}

static inline void performer_pack(const struct performer *p, struct mat w, bool back)
{
    gemm_pack(p->c, p->m, gemm_transposed(row_of(w, 0), w.ld), p->project);
    gemm_scale(gemm_packed_size(p->c, p->m), p->project, p->scale);
    if (!back)
        return;
    gemm_pack(p->m, p->c, gemm_in(row_of(w, 0), w.ld), p->back);
    gemm_scale(gemm_packed_size(p->m, p->c), p->back, p->scale);
}

/* Scratch of the calling thread. */
static inline float *performer_workspace(const struct performer *p)
{
    return p->workspaces + omp_get_thread_num() * (p->per_thread + GAP);
}

/* The accumulator of a part that is not the first of its graph. */
static inline float *performer_more(const struct performer *p, int64_t number, int64_t graph, int64_t h)
{
    return p->more + ((number - graph - 1) * p->heads + h) * p->sums;
}

/* The parts of a graph after the first, and the accumulator of part 1. */
static inline int64_t performer_parts_after(const struct performer *p, int64_t graph)
{
    return blocks_of(graph_size(p->graphs, graph), PART) - 1;
}

static inline const float *performer_part_after(const struct performer *p, int64_t graph, int64_t h)
{
    return performer_more(p, block_first(p->graphs, PART, graph) + 1, graph, h);
}

/* Adds n floats of the accumulators of a graph's later parts, from offset `at` on. */
static inline void performer_add_parts(const struct performer *p, int64_t graph, int64_t h, int64_t at,
                                       int64_t n, float *to)
{
    const float *from = performer_part_after(p, graph, h) + at;
    for (int64_t part = performer_parts_after(p, graph); part > 0; part--, from += p->heads * p->sums)
        for (int64_t k = 0; k < n; k++)
            to[k] += from[k];
}

/* What queries read of the keys: operands of performer_attention. */
struct performer_keys_side {
    struct mat s, l, top, sum;
    float eps;
};

/* a = c s + eps sum (M x C) and b = c l + eps n (M) of one graph and head; returns c. */
static inline float performer_gather(const struct performer *p, const struct performer_keys_side *from,
                                     int64_t graph, int64_t h, float *a, float *b)
{
    int64_t row = (graph * p->heads + h) * p->m;
    const float *sum = row_of(from->sum, graph) + h * p->c;
    float most = *row_of(from->top, row), share = from->eps * (float)graph_size(p->graphs, graph);
    for (int64_t f = 1; f < p->m; f++)
        most = vm_larger(*row_of(from->top, row + f), most);
    float c = p->exponential ? expf(-most) : 1;
    for (int64_t f = 0; f < p->m; f++, a += p->c) {
        const float *s = row_of(from->s, row + f);
        b[f] = c * *row_of(from->l, row + f) + share;
#pragma omp simd
        for (int64_t k = 0; k < p->c; k++)
            a[k] = c * s[k] + from->eps * sum[k];
    }
    return c;
}

/* u = x w', scaled: rows x M, for x with C columns. */
static inline void performer_project(const struct performer *p, int64_t rows, const float *x, int64_t ldx,
                                     float *u)
{
    gemm_fused(rows, p->m, p->c, gemm_in(x, ldx), p->project, u, p->ld,
               (struct gemm_end){.kind = GEMM_STORE});
}

/* |z|^2 / 2 of the scaled row. */
static inline float performer_half(const struct performer *p, const float *x)
{
    return 0.5f * p->scale * p->scale * vm_dot(p->c, x, x);
}

/* Features from u, in place. */
static inline void performer_features(const struct performer *p, float *u, float shift)
{
    if (p->exponential) {
#pragma omp simd
        for (int64_t f = 0; f < p->m; f++)
            u[f] = vm_exp(u[f] - shift);
    } else {
#pragma omp simd
        for (int64_t f = 0; f < p->m; f++)
            u[f] = u[f] <= 0 ? 0 : u[f];
    }
}

/* t = (t + share b) e, or where e > 0 t + share b, in place; returns its sum. */
static inline float performer_slopes(const struct performer *p, float *restrict t, const float *restrict e,
                                     float share, const float *restrict b)
{
    float sum = 0;
    if (p->exponential) {
#pragma omp simd reduction(+ : sum)
        for (int64_t f = 0; f < p->m; f++) {
            t[f] = (t[f] + share * b[f]) * e[f];
            sum += t[f];
        }
    } else {
#pragma omp simd
        for (int64_t f = 0; f < p->m; f++)
            t[f] = e[f] > 0 ? t[f] + share * b[f] : 0;
    }
    return sum;
}

/* dx (+)= (t w - z sum) scale, of rows x C, from t (rows x M) and the sum of each of its rows. */
static inline void performer_put(const struct performer *p, int64_t rows, const float *t, const float *sum,
                                 const float *x, int64_t ldx, float *dx, int64_t ldd, bool acc)
{
    gemm_packed(rows, p->c, p->m, gemm_in(t, p->ld), p->back, dx, ldd, acc);
    for (int64_t i = 0; i < rows && p->exponential; i++) {
        float share = p->scale * p->scale * sum[i];
        float *to = dx + i * ldd;
        const float *from = x + i * ldx;
#pragma omp simd
        for (int64_t k = 0; k < p->c; k++)
            to[k] -= share * from[k];
    }
}

static inline void performer_task(const void *performer, int64_t task, void *unused)
{
    const struct performer *p = performer;
    struct block part = block_at(p->graphs, PART, task / p->heads);
    (void)unused;
    if (part.rows > 0)
        p->part(p, part, task / p->heads, task % p->heads);
}

/* Runs the kernel's work. */
static inline void performer_run(const struct performer *p, const struct call *call)
{
    int64_t rows = p->row ? graph_count(p->graphs) * p->heads * p->m : 0;
#pragma omp parallel num_threads(threads_for(call, p->rows * p->heads * p->c * p->m, 1 << 16))
    {
        tasks_run(p->queues, p->parts * p->heads, p, NULL, performer_task);
#pragma omp for schedule(static) nowait
        for (int64_t row = 0; row < rows; row++)
            p->row(p, row);
    }
}

/* Block i of a part. */
static inline struct block performer_block(struct block part, int64_t i)
{
    return (struct block){part.graph, part.first + i, min_of(BLOCK, part.rows - i)};
}

#endif
