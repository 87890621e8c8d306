/*
 * Batch norm and graph norm, on one rank and by sums of several: moments of rows, then rows by moments.
 *
 *   y = (x - mean) rstd gain + bias     rstd = 1 / sqrt(squares / entries + eps)
 *   running = (1 - momentum) running + momentum (mean, squares / (N - 1))
 *
 * A group of entries has a mean and the sum of squared distances from it: a column of all rows, which are
 * then one graph (batch norm), or a graph with all its columns (graph norm).
 *
 * Rows are divided into blocks within one graph that fit the first two levels of cache, so that the two
 * passes for a block's moments read memory once. Blocks are merged in order and in double. Graph norm
 * normalises a graph of one block at once. Row sums are in float, sums of those in double. The rounding error
 * of a column's mean is compensated in the bias, so columns far from zero lose no further accuracy.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/norm.h"

#include <math.h>
#include <string.h>

enum { STRIP = NORM_STRIP, GRAIN = NORM_GRAIN };

/* Of a block's column: the rounded mean, then the sums of x - mean and of its square. */
enum { MEAN, REST, SQUARES, MOMENTS };

/* Of a block with all its columns. */
struct graph_moments {
    double mean, squares;
};

struct forward {
    struct call call;
    struct mat y, x, gain, bias, stats;
    struct mat running_mean, running_var; /* absent: not moved */
    struct mat sum, squares;              /* sums of several ranks; absent on one */
    int64_t rows[2];                      /* of a single graph */
    struct offsets graphs;
    bool each, at_once; /* a column is a group; a graph of one block is normalised at once */
    double eps, momentum;
    float *blocks;               /* moments, `slot` floats each */
    float *mean, *slope, *shift; /* of groups; without `each` slope is rstd and there is no shift */
    int64_t slot;
};

static int64_t groups_of(const struct forward *f)
{
    return f->each ? f->x.cols : graph_count(f->graphs);
}

/* Returns the bytes of scratch. */
static int64_t lay_out(struct forward *f, bool blocks)
{
    int64_t d = f->x.cols, groups = groups_of(f);
    f->slot = f->each ? MOMENTS * d : (int64_t)(sizeof(struct graph_moments) / sizeof(float));
    struct scratch_part parts[] = {{&f->blocks, blocks ? norm_blocks(f->graphs, f->x) * f->slot : 0},
                                   {&f->mean, groups},
                                   {&f->slope, groups},
                                   {&f->shift, f->each ? d : 0}};
    return 4 * SCRATCH(f->call.scratch, parts);
}

/* --- moments */

static void column_moments(struct mat x, struct block b, float *moments)
{
    int64_t d = x.cols;
    float *restrict mean = moments, *restrict rest = mean + d, *restrict squares = rest + d;
    float share = 1 / (float)b.rows;
    memset(moments, 0, (size_t)(MOMENTS * d) * sizeof(float));
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        add_accumulators(d, mean, true, row_of(x, i), 1, 0);
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        mean[k] *= share;
    for (int64_t i = b.first; i < b.first + b.rows; i++) {
        const float *restrict row = row_of(x, i);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float centred = row[k] - mean[k];
            rest[k] += centred;
            squares[k] += centred * centred;
        }
    }
}

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

static void move(float *running, double momentum, double value)
{
    *running = (float)((1 - momentum) * *running + momentum * value);
}

/* What column k is normalised by. */
INLINE void set_column(const struct forward *f, int64_t k, double mean, double squares, double entries)
{
    double rstd = 1 / sqrt(squares / entries + f->eps), slope = rstd * row_of(f->gain, 0)[k];
    f->mean[k] = (float)mean;
    f->slope[k] = (float)slope;
    f->shift[k] = (float)(row_of(f->bias, 0)[k] - (mean - f->mean[k]) * slope);
    if (mat_present(f->stats)) {
        row_of(f->stats, 0)[k] = f->mean[k];
        row_of(f->stats, 1)[k] = (float)rstd;
    }
    if (mat_present(f->running_mean)) {
        move(row_of(f->running_mean, 0) + k, f->momentum, mean);
        move(row_of(f->running_var, 0) + k, f->momentum, squares / (entries > 1 ? entries - 1 : 1));
    }
}

static void set_graph(const struct forward *f, int64_t g, double mean, double squares, double entries)
{
    f->mean[g] = (float)mean;
    f->slope[g] = (float)(1 / sqrt(squares / entries + f->eps));
    if (mat_present(f->stats)) {
        row_of(f->stats, g)[0] = f->mean[g];
        row_of(f->stats, g)[1] = f->slope[g];
    }
}

INLINE void set_group(const struct forward *f, int64_t i, double mean, double squares, double entries)
{
    if (f->each)
        set_column(f, i, mean, squares, entries);
    else
        set_graph(f, i, mean, squares, entries);
}

/* Moments of groups first .. first + count - 1, of graph g, over its blocks. */
static void merge_blocks(const struct forward *f, int64_t g, int64_t first, int64_t count,
                         double *restrict mean, double *restrict squares)
{
    int64_t d = f->x.cols, rows = norm_block_rows(d), size = graph_size(f->graphs, g);
    const float *block = f->blocks + block_first(f->graphs, rows, g) * f->slot;
    memset(mean, 0, (size_t)count * sizeof *mean);
    memset(squares, 0, (size_t)count * sizeof *squares);
    for (int64_t before = 0; before < size; before += rows, block += f->slot) {
        double its = (double)min_of(rows, size - before), share = 1 / its;
        const struct graph_moments *all = (const void *)block;
        const float *m = block + MEAN * d + first, *rest = block + REST * d + first;
        const float *q = block + SQUARES * d + first;
        if (!f->each) {
            merge_moments(mean, squares, (double)(before * d), its * (double)d, all->mean, all->squares);
            continue;
        }
#pragma omp simd
        for (int64_t j = 0; j < count; j++) {
            double off = rest[j] * share;
            merge_moments(&mean[j], &squares[j], (double)before, its, m[j] + off, q[j] - off * rest[j]);
        }
    }
}

/* A strip of columns, or a graph. */
static void finish_groups(const struct forward *f, int64_t first)
{
    double mean[STRIP], squares[STRIP];
    int64_t count = f->each ? min_of(STRIP, f->x.cols - first) : 1, g = f->each ? 0 : first;
    double entries = (double)(graph_size(f->graphs, g) * (f->each ? 1 : f->x.cols));
    if (f->at_once && norm_one_block(f->graphs, f->x, g))
        return;
    merge_blocks(f, g, first, count, mean, squares);
    for (int64_t j = 0; j < count; j++)
        if (mat_present(f->sum)) {
            *norm_entry(f->sum, f->each, first + j) = (float)(mean[j] * entries);
            *norm_entry(f->squares, f->each, first + j) = (float)squares[j];
        } else
            set_group(f, first + j, mean[j], squares[j], entries);
}

/* --- rows */

/* y = (x - mean) slope + shift. */
static void apply(struct mat y, struct mat x, const float *restrict mean, const float *restrict slope,
                  const float *restrict shift, int64_t i)
{
    float *restrict to = row_of(y, i);
    const float *restrict from = row_of(x, i);
#pragma omp simd
    for (int64_t k = 0; k < x.cols; k++)
        to[k] = (from[k] - mean[k]) * slope[k] + shift[k];
}

/* Rows of one graph. */
static void normalise(const struct forward *f, struct block b)
{
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        norm_row(f->x.cols, row_of(f->y, i), row_of(f->x, i), f->mean[b.graph], f->slope[b.graph],
                 f->gain.data, f->bias.data);
}

/* --- both, by the threads of a parallel region */

static void begin_block(const struct forward *f, int64_t number)
{
    struct block b = block_at(f->graphs, norm_block_rows(f->x.cols), number);
    float *slot = f->blocks + number * f->slot;
    if (b.rows <= 0)
        return;
    if (f->each)
        return column_moments(f->x, b, slot);
    struct graph_moments *m = (void *)slot;
    *m = block_moments(f->x, b);
    if (f->at_once && norm_one_block(f->graphs, f->x, b.graph)) {
        set_graph(f, b.graph, m->mean, m->squares, (double)(b.rows * f->x.cols));
        normalise(f, b);
    }
}

static void find_moments(const struct forward *f)
{
#pragma omp for schedule(static)
    for (int64_t i = 0; i < norm_blocks(f->graphs, f->x); i++)
        begin_block(f, i);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < groups_of(f); i += f->each ? STRIP : 1)
        finish_groups(f, i);
}

static void normalise_rows(const struct forward *f)
{
    int64_t rows = f->each ? graph_first(f->graphs, 1) : 0,
            blocks = f->each ? 0 : norm_blocks(f->graphs, f->x);
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < rows; i++)
        apply(f->y, f->x, f->mean, f->slope, f->shift, i);
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < blocks; i++) {
        struct block b = block_at(f->graphs, norm_block_rows(f->x.cols), i);
        if (!f->at_once || !norm_one_block(f->graphs, f->x, b.graph))
            normalise(f, b);
    }
}

static int threads_of(const struct forward *f)
{
    return threads_for(&f->call, mat_size(f->x), GRAIN);
}

/* --- ops: what each is of, and the bytes of its scratch */

static int64_t of_batch(const void *args, struct forward *f)
{
    const struct batch_norm_args *a = args;
    *f = (struct forward){.call = a->call, .y = a->y, .x = a->x, .gain = a->gain, .bias = a->bias};
    f->stats = a->stats;
    f->running_mean = a->running_mean;
    f->running_var = a->running_var;
    f->momentum = a->momentum;
    f->eps = a->eps;
    f->each = true;
    f->graphs = norm_one_graph(f->rows, a->x.rows);
    return lay_out(f, true);
}

static int64_t of_graphs(const void *args, struct forward *f)
{
    const struct graph_norm_args *a = args;
    *f = (struct forward){.call = a->call, .y = a->y, .x = a->x, .gain = a->gain, .bias = a->bias};
    f->stats = a->stats;
    f->eps = a->eps;
    f->at_once = true;
    f->graphs = a->graphs;
    return lay_out(f, true);
}

static int64_t of_sums(const void *args, struct forward *f)
{
    const struct norm_sums_args *a = args;
    *f = (struct forward){.call = a->call, .x = a->x, .sum = a->sum, .squares = a->squares};
    f->each = a->sum.cols > 1;
    f->graphs = a->graphs;
    return lay_out(f, true);
}

static int64_t by_sums(const void *args, struct forward *f)
{
    const struct norm_by_sums_args *a = args;
    *f = (struct forward){.call = a->call, .y = a->y, .x = a->x, .gain = a->gain, .bias = a->bias};
    f->eps = a->eps;
    f->each = a->sum.cols > 1;
    f->graphs = a->graphs;
    return lay_out(f, false);
}

static void run(const struct forward *f)
{
#pragma omp parallel num_threads(threads_of(f))
    {
        find_moments(f);
        normalise_rows(f);
    }
}

void CPU(batch_norm)(const void *args)
{
    struct forward f;
    of_batch(args, &f);
    run(&f);
}

void CPU(graph_norm)(const void *args)
{
    struct forward f;
    of_graphs(args, &f);
    run(&f);
}

void CPU(norm_sums)(const void *args)
{
    struct forward f;
    of_sums(args, &f);
#pragma omp parallel num_threads(threads_of(&f))
    find_moments(&f);
}

void CPU(norm_by_sums)(const void *args)
{
    const struct norm_by_sums_args *a = args;
    struct forward f;
    by_sums(a, &f);
    for (int64_t i = 0; i < groups_of(&f); i++) {
        double entries = doubles_of(a->n, f.each ? 0 : i)[0];
        set_group(&f, i, *norm_entry(a->sum, f.each, i) / entries, *norm_entry(a->squares, f.each, i),
                  entries);
    }
    clear_rows_of_none(a->y, a->graphs);
#pragma omp parallel num_threads(threads_of(&f))
    normalise_rows(&f);
}

int64_t CPU(batch_norm_scratch)(const void *args)
{
    return of_batch(args, &(struct forward){0});
}

int64_t CPU(graph_norm_scratch)(const void *args)
{
    return of_graphs(args, &(struct forward){0});
}

int64_t CPU(norm_sums_scratch)(const void *args)
{
    return of_sums(args, &(struct forward){0});
}

int64_t CPU(norm_by_sums_scratch)(const void *args)
{
    return by_sums(args, &(struct forward){0});
}

void CPU(batch_norm_inference)(const void *args)
{
    const struct batch_norm_inference_args *a = args;
    float *slope = a->call.scratch;
    for (int64_t k = 0; k < a->x.cols; k++)
        slope[k] = row_of(a->gain, 0)[k] / sqrtf(row_of(a->running_var, 0)[k] + (float)a->eps);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < a->x.rows; i++)
        apply(a->y, a->x, row_of(a->running_mean, 0), slope, row_of(a->bias, 0), i);
}

int64_t CPU(batch_norm_inference_scratch)(const void *args)
{
    return float_bytes(((const struct batch_norm_inference_args *)args)->x.cols);
}
