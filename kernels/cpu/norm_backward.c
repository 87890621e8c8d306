/*
 * Gradients of batch norm and graph norm, on one rank and by sums of several: sums over rows, then rows by
 * sums. A group of entries is a column (`each`), or a graph (norm_forward.c).
 *
 *   h = (x - mean) rstd, g = dy gain     s = sum g, t = sum g h     dx (+)= (g - s / n - h t / n) rstd
 *   dgain (+)= sum of dy h, dbias (+)= sum of dy over rows
 *
 * Where each column is a group, s and t are those of dy, and dx has the factor gain.
 *
 * A block of rows within one graph is summed by columns, in float: dy h and dy. Their products with the gain
 * give what a block adds to its graph. Columns are added, in double, over at most RUNS runs of blocks, and
 * these in order.
 */
#include "kernels/cpu/norm.h"

#include <math.h>
#include <string.h>

enum { STRIP = NORM_STRIP, GRAIN = NORM_GRAIN, RUNS = 64 };

/* Of a block or a graph. */
struct sums {
    double s, t;
};

struct backward {
    struct call call;
    struct mat dx, dgain, dbias, dy, x, gain;
    struct mat mean, rstd, s, t; /* of groups; s and t: of the rows at hand; absent on one rank */
    int64_t rows[2];             /* of a single graph */
    struct offsets graphs;
    bool each, at_once; /* a column is a group; dx of a graph of one block is found at once */
    int64_t run, runs;  /* blocks of a run */
    float *columns;     /* of each run: the block at hand, D of dy h and D of dy */
    double *totals;     /* the same over the run */
    struct sums *blocks;
    float *s_mean, *t_mean; /* s / n and t / n of groups */
};

static int64_t groups_of(const struct backward *b)
{
    return b->each ? b->x.cols : graph_count(b->graphs);
}

/* Returns the bytes of scratch, which begins with `moments` floats of other use. */
static int64_t lay_out(struct backward *b, int64_t moments, bool sums)
{
    int64_t width = 2 * b->x.cols, blocks = sums ? norm_blocks(b->graphs, b->x) : 0;
    float *first, *totals, *of_blocks;
    b->run = max_of(1, blocks_of(blocks, RUNS));
    b->runs = blocks_of(blocks, b->run);
    struct scratch_part parts[] = {{&first, moments},
                                   {&totals, 2 * b->runs * width},
                                   {&of_blocks, b->each ? 0 : 4 * blocks},
                                   {&b->columns, b->runs * width},
                                   {&b->s_mean, groups_of(b)},
                                   {&b->t_mean, groups_of(b)}};
    int64_t bytes = 4 * SCRATCH(b->call.scratch, parts);
    b->totals = (void *)totals;
    b->blocks = (void *)of_blocks;
    return bytes;
}

/* --- rows */

static void set_group(const struct backward *b, int64_t i, double s, double t, double entries)
{
    b->s_mean[i] = (float)(s / entries);
    b->t_mean[i] = (float)(t / entries);
}

static double entries_of(const struct backward *b, int64_t g)
{
    return (double)(graph_size(b->graphs, g) * (b->each ? 1 : b->x.cols));
}

static void row_by_columns(const struct backward *b, int64_t i)
{
    const float *restrict x = row_of(b->x, i), *restrict dy = row_of(b->dy, i), *restrict gain = b->gain.data;
    const float *restrict mean = b->mean.data, *restrict rstd = b->rstd.data;
    const float *restrict t = b->t_mean, *restrict s = b->s_mean;
    float *restrict dx = row_of(b->dx, i);
    bool acc = b->dx.acc;
#pragma omp simd
    for (int64_t k = 0; k < b->x.cols; k++)
        dx[k] = (acc ? dx[k] : 0) + (dy[k] - s[k] - (x[k] - mean[k]) * rstd[k] * t[k]) * (gain[k] * rstd[k]);
}

/* Rows of one graph. */
static void pass_back(const struct backward *b, struct block of, double entries)
{
    int64_t g = of.graph;
    for (int64_t i = of.first; i < of.first + of.rows; i++)
        norm_row_backward(b->x.cols, row_of(b->dx, i), b->dx.acc, row_of(b->dy, i), row_of(b->x, i),
                          row_of(b->mean, g)[0], row_of(b->rstd, g)[0], b->gain.data, b->s_mean[g],
                          b->t_mean[g], entries == 1);
}

/* --- sums */

/* Adds dy (x - mean) to t and dy to s. */
INLINE void add_row(int64_t d, float *restrict t, float *restrict s, const float *restrict dy,
                    const float *restrict x, const float *restrict mean, bool each)
{
#pragma omp simd
    for (int64_t k = 0; k < d; k++) {
        t[k] += dy[k] * (x[k] - (each ? mean[k] : mean[0]));
        s[k] += dy[k];
    }
}

/* Of the columns of a block, without the factor rstd of t. */
static void sum_block(const struct backward *b, struct block of, float *t, float *s)
{
    struct mat x = b->x, dy = b->dy;
    const float *mean = row_of(b->mean, of.graph);
    memset(t, 0, (size_t)x.cols * sizeof *t);
    memset(s, 0, (size_t)x.cols * sizeof *s);
    if (b->each)
        for (int64_t i = of.first; i < of.first + of.rows; i++)
            add_row(x.cols, t, s, row_of(dy, i), row_of(x, i), mean, true);
    else
        for (int64_t i = of.first; i < of.first + of.rows; i++)
            add_row(x.cols, t, s, row_of(dy, i), row_of(x, i), mean, false);
}

/* Adds the columns of a block to those of a run; returns what they add to their graph. */
INLINE struct sums add_block(int64_t d, double *restrict total, const float *restrict t,
                             const float *restrict s, const float *restrict rstd, const float *restrict gain,
                             bool each)
{
    double t_sum = 0, s_sum = 0;
#pragma omp simd reduction(+ : t_sum, s_sum)
    for (int64_t k = 0; k < d; k++) {
        float th = t[k] * (each ? rstd[k] : rstd[0]);
        total[k] += th;
        total[d + k] += s[k];
        t_sum += each ? 0 : th * (double)gain[k];
        s_sum += each ? 0 : s[k] * (double)gain[k];
    }
    return (struct sums){s_sum, t_sum};
}

/* The blocks of run r; dx of graphs of one block. */
static void sum_run(const struct backward *b, int64_t r)
{
    int64_t d = b->x.cols, rows = norm_block_rows(d);
    int64_t end = min_of(norm_blocks(b->graphs, b->x), (r + 1) * b->run);
    float *t = b->columns + r * 2 * d, *s = t + d;
    double *total = b->totals + r * 2 * d;
    const float *gain = b->gain.data;
    memset(total, 0, (size_t)(2 * d) * sizeof *total);
    for (int64_t i = r * b->run; i < end; i++) {
        struct block of = block_at(b->graphs, rows, i);
        if (of.rows <= 0)
            continue;
        const float *rstd = row_of(b->rstd, of.graph);
        sum_block(b, of, t, s);
        if (b->each) {
            add_block(d, total, t, s, rstd, gain, true);
            continue;
        }
        b->blocks[i] = add_block(d, total, t, s, rstd, gain, false);
        if (b->at_once && norm_one_block(b->graphs, b->x, of.graph)) {
            set_group(b, of.graph, b->blocks[i].s, b->blocks[i].t, entries_of(b, of.graph));
            pass_back(b, of, entries_of(b, of.graph));
        }
    }
}

static void finish_group(const struct backward *b, int64_t i, struct sums sums)
{
    if (mat_present(b->s)) {
        *norm_entry(b->s, b->each, i) = (float)sums.s;
        *norm_entry(b->t, b->each, i) = (float)sums.t;
    } else
        set_group(b, i, sums.s, sums.t, entries_of(b, b->each ? 0 : i));
}

/* Adds the blocks of graph g. */
static void finish_graph(const struct backward *b, int64_t g)
{
    int64_t rows = norm_block_rows(b->x.cols), blocks = blocks_of(graph_size(b->graphs, g), rows);
    const struct sums *its = b->blocks + block_first(b->graphs, rows, g);
    struct sums sums = {0};
    for (int64_t i = 0; i < blocks; i++) {
        sums.s += its[i].s;
        sums.t += its[i].t;
    }
    finish_group(b, g, sums);
}

static void add_columns(struct mat to, int64_t first, int64_t count, const double *sums)
{
    float *gradient = mat_present(to) ? row_of(to, 0) + first : NULL;
    for (int64_t j = 0; j < count && gradient; j++)
        gradient[j] = (float)((to.acc ? gradient[j] : 0) + sums[j]);
}

/* Adds the runs of columns first .. first + STRIP - 1. */
static void finish_columns(const struct backward *b, int64_t first)
{
    int64_t d = b->x.cols, count = min_of(STRIP, d - first);
    double t[STRIP] = {0}, s[STRIP] = {0};
    for (int64_t r = 0; r < b->runs; r++)
        for (int64_t j = 0; j < count; j++) {
            t[j] += b->totals[2 * r * d + first + j];
            s[j] += b->totals[(2 * r + 1) * d + first + j];
        }
    add_columns(b->dgain, first, count, t);
    add_columns(b->dbias, first, count, s);
    for (int64_t j = 0; j < count && b->each; j++)
        finish_group(b, first + j, (struct sums){s[j], t[j]});
}

/* --- both, by the threads of a parallel region */

static void find_sums(const struct backward *b)
{
    int64_t graphs = b->each ? 0 : graph_count(b->graphs);
#pragma omp for schedule(static)
    for (int64_t r = 0; r < b->runs; r++)
        sum_run(b, r);
#pragma omp for schedule(static) nowait
    for (int64_t g = 0; g < graphs; g++)
        finish_graph(b, g);
#pragma omp for schedule(static)
    for (int64_t k = 0; k < b->x.cols; k += STRIP)
        finish_columns(b, k);
}

/* n: entries of groups on all ranks, or absent. */
static void find_rows(const struct backward *b, struct mat n)
{
    bool dx = mat_present(b->dx);
    int64_t rows = dx && b->each ? graph_first(b->graphs, 1) : 0;
    int64_t blocks = dx && !b->each ? norm_blocks(b->graphs, b->x) : 0;
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < rows; i++)
        row_by_columns(b, i);
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < blocks; i++) {
        struct block of = block_at(b->graphs, norm_block_rows(b->x.cols), i);
        if (of.rows > 0 && !(b->at_once && norm_one_block(b->graphs, b->x, of.graph)))
            pass_back(b, of, mat_present(n) ? doubles_of(n, of.graph)[0] : entries_of(b, of.graph));
    }
}

static int threads_of(const struct backward *b)
{
    return threads_for(&b->call, mat_size(b->x), GRAIN);
}

static void run(const struct backward *b)
{
#pragma omp parallel num_threads(threads_of(b))
    {
        find_sums(b);
        find_rows(b, (struct mat){0});
    }
}

/* --- ops: what each is of, and the bytes of its scratch */

static int64_t of_batch(const void *args, struct backward *b)
{
    const struct batch_norm_backward_args *a = args;
    *b = (struct backward){.call = a->call, .dy = a->dy, .x = a->x, .gain = a->gain, .each = true};
    b->dx = a->dx;
    b->dgain = a->dgain;
    b->dbias = a->dbias;
    b->mean = mat_rows(a->stats, 0, 1);
    b->rstd = mat_rows(a->stats, 1, 1);
    b->graphs = norm_one_graph(b->rows, a->x.rows);
    return lay_out(b, 0, true);
}

static int64_t of_graphs(const void *args, struct backward *b)
{
    const struct graph_norm_backward_args *a = args;
    *b = (struct backward){.call = a->call, .dy = a->dy, .x = a->x, .gain = a->gain, .graphs = a->graphs};
    b->dx = a->dx;
    b->dgain = a->dgain;
    b->dbias = a->dbias;
    b->mean = mat_cols(a->stats, 0, 1);
    b->rstd = mat_cols(a->stats, 1, 1);
    b->at_once = mat_present(a->dx);
    return lay_out(b, 0, true);
}

/* Mean and rstd by sums of all ranks, at the start of scratch. */
static int64_t of_ranks(struct backward *b, struct mat sum, struct mat squares, struct mat n, double eps,
                        bool sums)
{
    b->each = sum.cols > 1;
    int64_t count = mat_size(sum);
    b->mean = b->rstd = (struct mat){b->call.scratch, sum.rows, sum.cols, sum.cols, .dtype = F32};
    if (b->call.scratch)
        b->rstd.data = (float *)b->call.scratch + count;
    for (int64_t i = 0; i < count && b->call.scratch; i++) {
        double entries = doubles_of(n, b->each ? 0 : i)[0];
        *norm_entry(b->mean, b->each, i) = (float)(*norm_entry(sum, b->each, i) / entries);
        *norm_entry(b->rstd, b->each, i) =
            (float)(1 / sqrt(*norm_entry(squares, b->each, i) / entries + eps));
    }
    return lay_out(b, 2 * count, sums);
}

static int64_t of_sums(const void *args, struct backward *b)
{
    const struct norm_gradient_sums_args *a = args;
    *b = (struct backward){.call = a->call, .dy = a->dy, .x = a->x, .gain = a->gain, .graphs = a->graphs};
    b->dgain = a->dgain;
    b->dbias = a->dbias;
    b->s = a->s;
    b->t = a->t;
    return of_ranks(b, a->sum, a->squares, a->n, a->eps, true);
}

static int64_t by_sums(const void *args, struct backward *b)
{
    const struct norm_gradient_args *a = args;
    *b = (struct backward){.call = a->call, .dy = a->dy, .x = a->x, .gain = a->gain, .graphs = a->graphs};
    b->dx = a->dx;
    return of_ranks(b, a->sum, a->squares, a->n, a->eps, false);
}

void CPU(batch_norm_backward)(const void *args)
{
    struct backward b;
    of_batch(args, &b);
    run(&b);
}

void CPU(graph_norm_backward)(const void *args)
{
    struct backward b;
    of_graphs(args, &b);
    run(&b);
}

void CPU(norm_gradient_sums)(const void *args)
{
    struct backward b;
    of_sums(args, &b);
#pragma omp parallel num_threads(threads_of(&b))
    find_sums(&b);
}

void CPU(norm_gradient)(const void *args)
{
    const struct norm_gradient_args *a = args;
    struct backward b;
    by_sums(a, &b);
    for (int64_t i = 0; i < groups_of(&b); i++)
        set_group(&b, i, *norm_entry(a->s, b.each, i), *norm_entry(a->t, b.each, i),
                  doubles_of(a->n, b.each ? 0 : i)[0]);
    clear_rows_of_none(a->dx, a->graphs);
#pragma omp parallel num_threads(threads_of(&b))
    find_rows(&b, a->n);
}

int64_t CPU(batch_norm_backward_scratch)(const void *args)
{
    return of_batch(args, &(struct backward){0});
}

int64_t CPU(graph_norm_backward_scratch)(const void *args)
{
    return of_graphs(args, &(struct backward){0});
}

int64_t CPU(norm_gradient_sums_scratch)(const void *args)
{
    return of_sums(args, &(struct backward){0});
}

int64_t CPU(norm_gradient_scratch)(const void *args)
{
    return by_sums(args, &(struct backward){0});
}
