/*
 * Normalisation over all n_g D entries of each graph, and its backward.
 *
 *   y = (x - mean) rstd gain + bias     stats = [mean, rstd]     x, y: N x D, gain, bias: 1 x D, stats: B x 2
 *   n = (x - mean) rstd, g = dy gain     dx (+)= (g - mean(g) - n mean(g n)) rstd, means over the graph
 *   dgain (+)= sum of dy n, dbias (+)= sum of dy over rows
 *
 * Rows are divided into blocks within one graph, small enough for the second-level cache: a graph of one
 * block is processed at once. The moments of a larger graph are merged over its blocks, in order and in
 * double, and its blocks are read again. Row sums are in float, sums of those in double. dgain and dbias are
 * summed over at most CHUNKS runs of blocks, each with its own accumulator, and these are added in order.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/norm.h"

#include <math.h>
#include <string.h>

enum { CHUNKS = 64, GRAIN = 1 << 13 };

static int64_t blocks_in(struct offsets graphs, struct mat x)
{
    return block_count(graphs, x.rows, norm_block_rows(x.cols));
}

static bool whole_graph(struct offsets graphs, struct block b)
{
    return b.rows == graph_size(graphs, b.graph);
}

/* Of a block: mean and sum of squared deviations; of a graph: mean and rstd. */
struct graph_moments {
    double mean, squares;
};

struct scale {
    float mean, rstd;
};

struct forward {
    const struct graph_norm_args *a;
    struct graph_moments *blocks; /* one per block */
    struct scale *graphs;         /* one per graph */
};

static struct graph_moments block_moments(struct mat x, struct block b)
{
    double sum = 0, squares = 0, count = (double)(b.rows * x.cols);
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        sum += norm_sum(x.cols, row_of(x, i));
    float mean = (float)(sum / count);
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        squares += norm_squares(x.cols, row_of(x, i), mean);
    double off = sum / count - mean;
    return (struct graph_moments){sum / count, squares - count * off * off};
}

static struct scale scale_of(const struct forward *f, int64_t g, struct graph_moments m)
{
    struct mat stats = f->a->stats;
    double entries = (double)(graph_size(f->a->graphs, g) * f->a->x.cols);
    struct scale s = {(float)m.mean, (float)(1 / sqrt(m.squares / entries + f->a->eps))};
    if (mat_present(stats)) {
        row_of(stats, g)[0] = s.mean;
        row_of(stats, g)[1] = s.rstd;
    }
    return s;
}

static void normalise(const struct graph_norm_args *a, struct block b, struct scale s)
{
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        norm_row(a->x.cols, row_of(a->y, i), row_of(a->x, i), s.mean, s.rstd, a->gain.data, a->bias.data);
}

/* Graphs of several blocks. */
static void merge_graph(const struct forward *f, int64_t g)
{
    int64_t d = f->a->x.cols, rows = norm_block_rows(d), n = graph_size(f->a->graphs, g);
    const struct graph_moments *its = f->blocks + block_first(f->a->graphs, rows, g);
    struct graph_moments m = {0};
    for (int64_t first = 0; n > rows && first < n; first += rows, its++)
        merge_moments(&m.mean, &m.squares, (double)(first * d), (double)(min_of(rows, n - first) * d),
                      its->mean, its->squares);
    if (n > rows)
        f->graphs[g] = scale_of(f, g, m);
}

static struct forward forward_of(const struct graph_norm_args *a, int64_t *bytes)
{
    int64_t blocks = blocks_in(a->graphs, a->x) * (int64_t)sizeof(struct graph_moments);
    *bytes = blocks + graph_count(a->graphs) * (int64_t)sizeof(struct scale);
    struct forward f = {.a = a, .blocks = a->call.scratch};
    if (f.blocks)
        f.graphs = (struct scale *)((char *)a->call.scratch + blocks);
    return f;
}

void CPU(graph_norm)(const void *args)
{
    const struct graph_norm_args *a = args;
    int64_t bytes, rows = norm_block_rows(a->x.cols), blocks = blocks_in(a->graphs, a->x);
    struct forward f = forward_of(a, &bytes);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < blocks; i++) {
            struct block b = block_at(a->graphs, rows, i);
            if (b.rows > 0)
                f.blocks[i] = block_moments(a->x, b);
            if (b.rows > 0 && whole_graph(a->graphs, b))
                normalise(a, b, scale_of(&f, b.graph, f.blocks[i]));
        }
#pragma omp for schedule(static)
        for (int64_t g = 0; g < graph_count(a->graphs); g++)
            merge_graph(&f, g);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < blocks; i++) {
            struct block b = block_at(a->graphs, rows, i);
            if (!whole_graph(a->graphs, b))
                normalise(a, b, f.graphs[b.graph]);
        }
    }
}

int64_t CPU(graph_norm_scratch)(const void *args)
{
    int64_t bytes;
    forward_of(args, &bytes);
    return bytes;
}

struct backward {
    const struct graph_norm_backward_args *a;
    struct norm_sums *blocks, *graphs; /* one per block, one per graph */
    float *chunks;                     /* dgain and dbias of each chunk of blocks */
    int64_t count, run;                /* of chunks; blocks of a chunk */
};

static struct backward backward_of(const struct graph_norm_backward_args *a, int64_t *bytes)
{
    int64_t blocks = blocks_in(a->graphs, a->x), graphs = graph_count(a->graphs);
    struct backward s = {.a = a, .blocks = a->call.scratch, .run = blocks_of(blocks, CHUNKS)};
    s.count = blocks_of(blocks, s.run);
    int64_t sums = (blocks + graphs) * (int64_t)sizeof(struct norm_sums);
    *bytes = sums + float_bytes(s.count * 2 * a->x.cols);
    if (s.blocks) {
        s.graphs = s.blocks + blocks;
        s.chunks = (float *)((char *)a->call.scratch + sums);
    }
    return s;
}

static struct norm_sums block_sums(const struct graph_norm_backward_args *a, struct block b, float *dgain,
                                   float *dbias)
{
    struct norm_sums sums = {0};
    for (int64_t i = b.first; i < b.first + b.rows; i++) {
        struct norm_sums row =
            norm_row_sums(a->x.cols, row_of(a->dy, i), row_of(a->x, i), row_of(a->stats, b.graph)[0],
                          row_of(a->stats, b.graph)[1], a->gain.data, dgain, dbias);
        sums.g += row.g;
        sums.gn += row.gn;
    }
    return sums;
}

static void block_backward(const struct graph_norm_backward_args *a, struct block b, struct norm_sums sums)
{
    int64_t d = a->x.cols, entries = graph_size(a->graphs, b.graph) * d;
    float g_mean = (float)(sums.g / (double)entries), gn_mean = (float)(sums.gn / (double)entries);
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        norm_row_backward(d, row_of(a->dx, i), a->dx.acc, row_of(a->dy, i), row_of(a->x, i),
                          row_of(a->stats, b.graph)[0], row_of(a->stats, b.graph)[1], a->gain.data, g_mean,
                          gn_mean, entries);
}

/* The blocks of a chunk: their sums, and dx of graphs of one block. */
static void chunk_backward(const struct backward *s, int64_t c)
{
    const struct graph_norm_backward_args *a = s->a;
    int64_t d = a->x.cols, rows = norm_block_rows(d),
            end = min_of(blocks_in(a->graphs, a->x), (c + 1) * s->run);
    float *dgain = s->chunks + c * 2 * d;
    memset(dgain, 0, (size_t)(2 * d) * sizeof(float));
    for (int64_t i = c * s->run; i < end; i++) {
        struct block b = block_at(a->graphs, rows, i);
        s->blocks[i] = block_sums(a, b, dgain, dgain + d);
        if (mat_present(a->dx) && whole_graph(a->graphs, b))
            block_backward(a, b, s->blocks[i]);
    }
}

static void add_blocks(const struct backward *s, int64_t g)
{
    int64_t rows = norm_block_rows(s->a->x.cols), n = graph_size(s->a->graphs, g);
    const struct norm_sums *its = s->blocks + block_first(s->a->graphs, rows, g);
    struct norm_sums sums = {0};
    for (int64_t b = 0; b < blocks_of(n, rows); b++) {
        sums.g += its[b].g;
        sums.gn += its[b].gn;
    }
    s->graphs[g] = sums;
}

void CPU(graph_norm_backward)(const void *args)
{
    const struct graph_norm_backward_args *a = args;
    int64_t bytes, d = a->x.cols, rows = norm_block_rows(d), blocks = blocks_in(a->graphs, a->x);
    struct backward s = backward_of(a, &bytes);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t c = 0; c < s.count; c++)
            chunk_backward(&s, c);
#pragma omp for schedule(static)
        for (int64_t g = 0; g < graph_count(a->graphs); g++)
            add_blocks(&s, g);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < (mat_present(a->dx) ? blocks : 0); i++) {
            struct block b = block_at(a->graphs, rows, i);
            if (!whole_graph(a->graphs, b))
                block_backward(a, b, s.graphs[b.graph]);
        }
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < d; k += NORM_STRIP)
            norm_add_chunks(a->dgain, a->dbias, d, k, s.chunks, s.count);
    }
}

int64_t CPU(graph_norm_backward_scratch)(const void *args)
{
    int64_t bytes;
    backward_of(args, &bytes);
    return bytes;
}
