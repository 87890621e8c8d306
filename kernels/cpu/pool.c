/*
 * Mean, sum and maximum over the rows of each graph, and their backwards. x: N x D, y: B x D.
 *
 *   sum    dx (+)= dy          mean   y = sum / rows, dx (+)= dy / rows
 *   max    dx (+)= dy / (number of largest entries) where x is y, else 0
 *
 * Each is a reduction of the columns of a graph's rows: the sum, the maximum, or the number of entries equal
 * to y. Blocks of RUN rows of one graph are reduced in parallel; the only block of a graph writes its result
 * directly, and the blocks of a larger graph are combined in order, which also keeps the error of long sums
 * small.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/vector_math.h"

#include <float.h>
#include <string.h>

enum { RUN = 256, GRAIN = 1 << 13 };

enum reduction { SUM, LARGEST, MATCHES };

/* A reduction to `to` (B x D), with a row of scratch per block. */
struct reduce {
    enum reduction reduction;
    struct offsets graphs;
    struct mat x, y, to; /* y: compared with for MATCHES */
    float *blocks;
};

static void combine(enum reduction r, int64_t d, float *restrict to, const float *restrict x,
                    const float *restrict y)
{
    switch (r) {
    case SUM:
        add_accumulators(d, to, true, x, 1, 0);
        break;
    case LARGEST:
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            to[k] = vm_larger(x[k], to[k]);
        break;
    case MATCHES:
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            to[k] += x[k] == y[k] ? 1.0f : 0.0f;
        break;
    }
}

/* Initialises with the first row or block. */
static void begin(enum reduction r, int64_t d, float *to, const float *x)
{
    if (r == LARGEST)
        memcpy(to, x, (size_t)d * sizeof(float));
    else
        memset(to, 0, (size_t)d * sizeof(float));
}

static void reduce_block(const struct reduce *r, int64_t number)
{
    struct block b = block_at(r->graphs, RUN, number);
    int64_t d = r->x.cols;
    bool whole = b.rows == graph_size(r->graphs, b.graph);
    float *to = whole ? row_of(r->to, b.graph) : r->blocks + number * d;
    if (b.rows > 0)
        begin(r->reduction, d, to, row_of(r->x, b.first));
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        combine(r->reduction, d, to, row_of(r->x, i), row_of(r->y, b.graph));
}

static void reduce_graph(const struct reduce *r, int64_t g)
{
    int64_t d = r->x.cols, blocks = blocks_of(graph_size(r->graphs, g), RUN);
    const float *from = r->blocks + block_first(r->graphs, RUN, g) * d;
    float *to = row_of(r->to, g);
    if (blocks == 1)
        return;
    if (blocks > 0)
        begin(r->reduction, d, to, from);
    for (int64_t k = 0; k < d && blocks == 0; k++)
        to[k] = r->reduction == LARGEST ? -FLT_MAX : 0;
    for (int64_t b = 0; b < blocks; b++)
        combine(r->reduction == LARGEST ? LARGEST : SUM, d, to, from + b * d, NULL);
}

/* To be called by all threads of a parallel region. */
static void reduce(const struct reduce *r)
{
    int64_t blocks = block_count(r->graphs, r->x.rows, RUN);
#pragma omp for schedule(static)
    for (int64_t number = 0; number < blocks; number++)
        reduce_block(r, number);
#pragma omp for schedule(static)
    for (int64_t g = 0; g < graph_count(r->graphs); g++)
        reduce_graph(r, g);
}

static int64_t block_bytes(struct offsets graphs, struct mat x)
{
    return float_bytes(block_count(graphs, x.rows, RUN) * x.cols);
}

static void pool(struct call call, struct reduce r, bool mean)
{
    int threads = threads_for(&call, mat_size(r.x), GRAIN);
    r.blocks = call.scratch;
#pragma omp parallel num_threads(threads)
    {
        reduce(&r);
#pragma omp for schedule(static) nowait
        for (int64_t g = 0; g < (mean ? r.to.rows : 0); g++) {
            float *y = row_of(r.to, g), rows = (float)graph_size(r.graphs, g);
#pragma omp simd
            for (int64_t k = 0; k < r.to.cols; k++)
                y[k] /= rows;
        }
    }
}

void CPU(mean_pool)(const void *args)
{
    const struct mean_pool_args *a = args;
    pool(a->call, (struct reduce){.reduction = SUM, .graphs = a->graphs, .x = a->x, .to = a->y}, true);
}

int64_t CPU(mean_pool_scratch)(const void *args)
{
    const struct mean_pool_args *a = args;
    return block_bytes(a->graphs, a->x);
}

void CPU(sum_pool)(const void *args)
{
    const struct sum_pool_args *a = args;
    pool(a->call, (struct reduce){.reduction = SUM, .graphs = a->graphs, .x = a->x, .to = a->y}, false);
}

int64_t CPU(sum_pool_scratch)(const void *args)
{
    const struct sum_pool_args *a = args;
    return block_bytes(a->graphs, a->x);
}

void CPU(max_pool)(const void *args)
{
    const struct max_pool_args *a = args;
    pool(a->call, (struct reduce){.reduction = LARGEST, .graphs = a->graphs, .x = a->x, .to = a->y}, false);
}

int64_t CPU(max_pool_scratch)(const void *args)
{
    const struct max_pool_args *a = args;
    return block_bytes(a->graphs, a->x);
}

/* dx (+)= share of the row's graph; if x is given, only where it equals y. To be called by all threads. */
static void spread(struct offsets graphs, struct mat dx, struct mat share, bool mean, struct mat x,
                   struct mat y)
{
    int64_t d = dx.cols, blocks = block_count(graphs, dx.rows, RUN);
    bool acc = dx.acc;
#pragma omp for schedule(static)
    for (int64_t number = 0; number < blocks; number++) {
        struct block b = block_at(graphs, RUN, number);
        const float *restrict from = row_of(share, b.graph), *restrict top = row_of(y, b.graph);
        float scale = mean ? 1 / (float)graph_size(graphs, b.graph) : 1;
        for (int64_t i = b.first; i < b.first + b.rows; i++) {
            float *restrict to = row_of(dx, i);
            const float *restrict its = row_of(x, i);
            if (its) {
#pragma omp simd
                for (int64_t k = 0; k < d; k++)
                    to[k] = (acc ? to[k] : 0) + (its[k] == top[k] ? from[k] : 0);
            } else {
#pragma omp simd
                for (int64_t k = 0; k < d; k++)
                    to[k] = (acc ? to[k] : 0) + from[k] * scale;
            }
        }
    }
}

void CPU(mean_pool_backward)(const void *args)
{
    const struct mean_pool_backward_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->dx), GRAIN);
#pragma omp parallel num_threads(threads)
    spread(a->graphs, a->dx, a->dy, true, (struct mat){0}, (struct mat){0});
}

void CPU(sum_pool_backward)(const void *args)
{
    const struct sum_pool_backward_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->dx), GRAIN);
#pragma omp parallel num_threads(threads)
    spread(a->graphs, a->dx, a->dy, false, (struct mat){0}, (struct mat){0});
}

/* Converts the matches of each graph to shares of dy, in scratch. */
void CPU(max_pool_backward)(const void *args)
{
    const struct max_pool_backward_args *a = args;
    int64_t d = a->x.cols, graphs = graph_count(a->graphs);
    struct mat share = {.data = a->call.scratch, .rows = graphs, .cols = d, .ld = d, .dtype = F32};
    struct reduce r = {MATCHES, a->graphs, a->x, a->y, share, (float *)a->call.scratch + graphs * d};
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel num_threads(threads)
    {
        reduce(&r);
#pragma omp for schedule(static)
        for (int64_t g = 0; g < graphs; g++) {
            float *restrict to = row_of(share, g);
            const float *restrict dy = row_of(a->dy, g);
#pragma omp simd
            for (int64_t k = 0; k < d; k++)
                to[k] = dy[k] / to[k];
        }
        spread(a->graphs, a->dx, share, false, a->x, a->y);
    }
}

int64_t CPU(max_pool_backward_scratch)(const void *args)
{
    const struct max_pool_backward_args *a = args;
    return float_bytes(graph_count(a->graphs) * a->x.cols) + block_bytes(a->graphs, a->x);
}

void CPU(count_largest)(const void *args)
{
    const struct count_largest_args *a = args;
    pool(a->call, (struct reduce){MATCHES, a->graphs, a->x, a->y, a->count, NULL}, false);
}

int64_t CPU(count_largest_scratch)(const void *args)
{
    const struct count_largest_args *a = args;
    return block_bytes(a->graphs, a->x);
}

void CPU(share_largest)(const void *args)
{
    const struct share_largest_args *a = args;
    int64_t d = a->x.cols;
    struct mat share = {.data = a->call.scratch, .rows = a->dy.rows, .cols = d, .ld = d, .dtype = F32};
    for (int64_t g = 0; g < share.rows; g++)
        for (int64_t k = 0; k < d; k++)
            row_of(share, g)[k] = row_of(a->dy, g)[k] / row_of(a->count, g)[k];
    clear_rows_of_none(a->dx, a->graphs);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel num_threads(threads)
    spread(a->graphs, a->dx, share, false, a->x, a->y);
}

int64_t CPU(share_largest_scratch)(const void *args)
{
    return float_bytes(mat_size(((const struct share_largest_args *)args)->dy));
}
