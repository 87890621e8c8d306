/*
 * Normalisation by sums that several ranks have together; kernels/ref/norm_sums.c has the mathematics.
 *
 * Rows are divided into blocks within one graph, whose column sums are in float; those of a graph are added
 * in order and in double. Mean and rstd are computed once for each of the B x M sums.
 */
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/norm.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 13, STRIP = NORM_STRIP };

static int64_t blocks_in(struct offsets graphs, struct mat x)
{
    return block_count(graphs, x.rows, norm_block_rows(x.cols));
}

static struct block block_of(struct offsets graphs, struct mat x, int64_t number)
{
    return block_at(graphs, norm_block_rows(x.cols), number);
}

/* What x is normalised by: mean and rstd are B x M each, of columns of their own (M = D) or of all (M = 1).
 */
struct moments {
    struct mat x, sum, squares, n, gain;
    struct offsets graphs;
    double eps;
    float *mean, *rstd;
};

#define MOMENTS(a)                                                                                           \
    {                                                                                                        \
        (a)->x, (a)->sum, (a)->squares, (a)->n, (a)->gain, (a)->graphs, (a)->eps, (a)->call.scratch,         \
            (float *)(a)->call.scratch + mat_size((a)->sum)                                                  \
    }

static double entries_of(struct mat n, int64_t g)
{
    return ((const double *)n.data)[g * n.ld];
}

static void find_moments(const struct moments *m)
{
    int64_t columns = m->sum.cols;
    for (int64_t g = 0; g < m->sum.rows; g++) {
        double entries = entries_of(m->n, g);
        for (int64_t c = 0; c < columns; c++) {
            m->mean[g * columns + c] = (float)(row_of(m->sum, g)[c] / entries);
            m->rstd[g * columns + c] = (float)(1 / sqrt(row_of(m->squares, g)[c] / entries + m->eps));
        }
    }
}

/* --- sums of blocks */

/* `kinds` sums of D columns for each block, and of each graph. */
struct column_sums {
    struct mat x;
    struct offsets graphs;
    int64_t kinds;
    float *blocks;
    double *graph;
};

/* In scratch, after `used` floats. */
static struct column_sums column_sums_of(struct mat x, struct offsets graphs, int64_t kinds, void *scratch,
                                         int64_t used, int64_t *bytes)
{
    int64_t width = kinds * x.cols, graph = graph_count(graphs) * width * (int64_t)sizeof(double);
    int64_t first = round_up(float_bytes(used), 64);
    *bytes = first + graph + float_bytes(blocks_in(graphs, x) * width);
    struct column_sums s = {.x = x, .graphs = graphs, .kinds = kinds};
    if (scratch) {
        s.graph = (double *)(void *)((char *)scratch + first);
        s.blocks = (float *)(void *)((char *)scratch + first + graph);
    }
    return s;
}

/* Adds the blocks of each graph; by the threads of a parallel region. */
static void add_blocks(const struct column_sums *s)
{
    int64_t width = s->kinds * s->x.cols, strips = blocks_of(width, STRIP);
    int64_t rows = norm_block_rows(s->x.cols);
#pragma omp for schedule(static)
    for (int64_t task = 0; task < graph_count(s->graphs) * strips; task++) {
        int64_t g = task / strips, k = task % strips * STRIP, count = min_of(STRIP, width - k);
        int64_t first = block_first(s->graphs, rows, g), blocks = blocks_of(graph_size(s->graphs, g), rows);
        double *restrict to = s->graph + g * width + k;
        memset(to, 0, (size_t)count * sizeof *to);
        for (int64_t b = first; b < first + blocks; b++) {
            const float *restrict from = s->blocks + b * width + k;
#pragma omp simd
            for (int64_t j = 0; j < count; j++)
                to[j] += from[j];
        }
    }
}

/* The sum of a column, or of all if M is 1, each times its weight. */
static double total(const double *sums, const float *weight, int64_t d, int64_t columns, int64_t c)
{
    double sum = 0;
    for (int64_t k = columns == 1 ? 0 : c; k < (columns == 1 ? d : c + 1); k++)
        sum += sums[k] * (weight ? weight[k] : 1);
    return sum;
}

INLINE void add_row(int64_t d, float *restrict to, const float *restrict x, const float *restrict sum,
                    float share, bool each)
{
#pragma omp simd
    for (int64_t k = 0; k < d; k++) {
        float centred = x[k] - (each ? sum[k] : sum[0]) * share;
        to[k] += centred * centred;
    }
}

static void sum_block(const struct norm_sums_args *a, const struct column_sums *s, int64_t number)
{
    struct block b = block_of(a->graphs, a->x, number);
    int64_t d = a->x.cols;
    float *to = s->blocks + number * d;
    memset(to, 0, (size_t)d * sizeof *to);
    if (!mat_present(a->sum)) {
        for (int64_t i = b.first; i < b.first + b.rows; i++)
            add_accumulators(d, to, true, row_of(a->x, i), 1, 0);
        return;
    }
    const float *sum = row_of(a->sum, b.graph);
    float share = (float)(1 / entries_of(a->n, b.graph));
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        if (a->sum.cols == 1)
            add_row(d, to, row_of(a->x, i), sum, share, false);
        else
            add_row(d, to, row_of(a->x, i), sum, share, true);
}

void CPU(norm_sums)(const void *args)
{
    const struct norm_sums_args *a = args;
    int64_t bytes, blocks = blocks_in(a->graphs, a->x), columns = a->y.cols;
    struct column_sums s = column_sums_of(a->x, a->graphs, 1, a->call.scratch, 0, &bytes);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < blocks; i++)
            sum_block(a, &s, i);
        add_blocks(&s);
#pragma omp for schedule(static) nowait
        for (int64_t g = 0; g < a->y.rows; g++)
            for (int64_t c = 0; c < columns; c++)
                row_of(a->y, g)[c] = (float)total(s.graph + g * a->x.cols, NULL, a->x.cols, columns, c);
    }
}

int64_t CPU(norm_sums_scratch)(const void *args)
{
    const struct norm_sums_args *a = args;
    int64_t bytes;
    column_sums_of(a->x, a->graphs, 1, NULL, 0, &bytes);
    return bytes;
}

/* --- normalisation */

INLINE void normalise_row(int64_t d, float *restrict y, const float *restrict x, const float *restrict mean,
                          const float *restrict rstd, const float *restrict gain, const float *restrict bias)
{
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        y[k] = (x[k] - mean[k]) * rstd[k] * gain[k] + bias[k];
}

static void normalise(const struct norm_by_sums_args *a, const struct moments *m, struct block b)
{
    int64_t d = a->x.cols, columns = a->sum.cols;
    const float *mean = m->mean + b.graph * columns, *rstd = m->rstd + b.graph * columns;
    const float *gain = row_of(a->gain, 0), *bias = row_of(a->bias, 0);
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        if (columns == 1)
            norm_row(d, row_of(a->y, i), row_of(a->x, i), *mean, *rstd, gain, bias);
        else
            normalise_row(d, row_of(a->y, i), row_of(a->x, i), mean, rstd, gain, bias);
}

void CPU(norm_by_sums)(const void *args)
{
    const struct norm_by_sums_args *a = args;
    const struct moments m = MOMENTS(a);
    int64_t blocks = blocks_in(a->graphs, a->x);
    find_moments(&m);
    clear_rows_of_none(a->y, a->graphs);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < blocks; i++)
        normalise(a, &m, block_of(a->graphs, a->x, i));
}

int64_t CPU(norm_by_sums_scratch)(const void *args)
{
    return float_bytes(2 * mat_size(((const struct norm_by_sums_args *)args)->sum));
}

/* --- gradients */

/* Adds dy to s and dy (x - mean) to t. */
INLINE void add_gradient_row(int64_t d, float *restrict s, float *restrict t, const float *restrict dy,
                             const float *restrict x, const float *restrict mean, bool each)
{
#pragma omp simd
    for (int64_t k = 0; k < d; k++) {
        s[k] += dy[k];
        t[k] += dy[k] * (x[k] - (each ? mean[k] : mean[0]));
    }
}

static void sum_gradient_block(const struct norm_gradient_sums_args *a, const struct moments *m,
                               const struct column_sums *sums, int64_t number)
{
    struct block b = block_of(a->graphs, a->x, number);
    int64_t d = a->x.cols, columns = a->sum.cols;
    const float *mean = m->mean + b.graph * columns;
    float *s = sums->blocks + number * 2 * d, *t = s + d;
    memset(s, 0, (size_t)(2 * d) * sizeof *s);
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        if (columns == 1)
            add_gradient_row(d, s, t, row_of(a->dy, i), row_of(a->x, i), mean, false);
        else
            add_gradient_row(d, s, t, row_of(a->dy, i), row_of(a->x, i), mean, true);
}

/* s and t of a graph. */
static void finish_graph(const struct norm_gradient_sums_args *a, const struct moments *m,
                         const struct column_sums *sums, int64_t g)
{
    int64_t d = a->x.cols, columns = a->sum.cols;
    const double *s = sums->graph + g * 2 * d, *t = s + d;
    for (int64_t c = 0; c < columns; c++) {
        row_of(a->s, g)[c] = (float)total(s, row_of(a->gain, 0), d, columns, c);
        row_of(a->t, g)[c] = (float)(total(t, row_of(a->gain, 0), d, columns, c) * m->rstd[g * columns + c]);
    }
}

/* Column k of dgain and dbias. */
static void finish_column(const struct norm_gradient_sums_args *a, const struct moments *m,
                          const struct column_sums *sums, int64_t k)
{
    int64_t d = a->x.cols, columns = a->sum.cols;
    double gain = 0, bias = 0;
    for (int64_t g = 0; g < a->sum.rows; g++) {
        bias += sums->graph[g * 2 * d + k];
        gain += sums->graph[g * 2 * d + d + k] * m->rstd[g * columns + (columns == 1 ? 0 : k)];
    }
    if (mat_present(a->dgain))
        row_of(a->dgain, 0)[k] = (float)((a->dgain.acc ? row_of(a->dgain, 0)[k] : 0) + gain);
    if (mat_present(a->dbias))
        row_of(a->dbias, 0)[k] = (float)((a->dbias.acc ? row_of(a->dbias, 0)[k] : 0) + bias);
}

void CPU(norm_gradient_sums)(const void *args)
{
    const struct norm_gradient_sums_args *a = args;
    const struct moments m = MOMENTS(a);
    int64_t bytes, blocks = blocks_in(a->graphs, a->x);
    struct column_sums sums =
        column_sums_of(a->x, a->graphs, 2, a->call.scratch, 2 * mat_size(a->sum), &bytes);
    find_moments(&m);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < blocks; i++)
            sum_gradient_block(a, &m, &sums, i);
        add_blocks(&sums);
#pragma omp for schedule(static) nowait
        for (int64_t g = 0; g < a->sum.rows; g++)
            finish_graph(a, &m, &sums, g);
#pragma omp for schedule(static) nowait
        for (int64_t k = 0; k < a->x.cols; k++)
            finish_column(a, &m, &sums, k);
    }
}

int64_t CPU(norm_gradient_sums_scratch)(const void *args)
{
    const struct norm_gradient_sums_args *a = args;
    int64_t bytes;
    column_sums_of(a->x, a->graphs, 2, NULL, 2 * mat_size(a->sum), &bytes);
    return bytes;
}

/* What dx needs of a graph: rows of M. */
struct gradient_terms {
    const float *mean, *rstd, *s, *t;
    float share; /* 1 / n */
};

INLINE void gradient_row(int64_t d, float *restrict dx, bool acc, const float *restrict dy,
                         const float *restrict x, const float *restrict gain, const struct gradient_terms *m,
                         bool each)
{
    const float *restrict mean = m->mean, *restrict rstd = m->rstd, *restrict s = m->s, *restrict t = m->t;
    float share = m->share;
#pragma omp simd
    for (int64_t k = 0; k < d; k++) {
        int64_t c = each ? k : 0;
        float h = (x[k] - mean[c]) * rstd[c];
        dx[k] = (acc ? dx[k] : 0) + (dy[k] * gain[k] - s[c] * share - h * (t[c] * share)) * rstd[c];
    }
}

static void pass_back(const struct norm_gradient_args *a, const struct moments *m, struct block b)
{
    int64_t d = a->x.cols, columns = a->sum.cols;
    if (b.rows <= 0)
        return;
    const struct gradient_terms terms = {m->mean + b.graph * columns, m->rstd + b.graph * columns,
                                         row_of(a->s, b.graph), row_of(a->t, b.graph),
                                         (float)(1 / entries_of(a->n, b.graph))};
    const float *gain = row_of(a->gain, 0);
    for (int64_t i = b.first; i < b.first + b.rows; i++)
        if (columns == 1)
            gradient_row(d, row_of(a->dx, i), a->dx.acc, row_of(a->dy, i), row_of(a->x, i), gain, &terms,
                         false);
        else
            gradient_row(d, row_of(a->dx, i), a->dx.acc, row_of(a->dy, i), row_of(a->x, i), gain, &terms,
                         true);
}

void CPU(norm_gradient)(const void *args)
{
    const struct norm_gradient_args *a = args;
    const struct moments m = MOMENTS(a);
    int64_t blocks = blocks_in(a->graphs, a->x);
    if (!mat_present(a->dx))
        return;
    find_moments(&m);
    clear_rows_of_none(a->dx, a->graphs);
    int threads = threads_for(&a->call, mat_size(a->x), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < blocks; i++)
        pass_back(a, &m, block_of(a->graphs, a->x, i));
}

int64_t CPU(norm_gradient_scratch)(const void *args)
{
    return float_bytes(2 * mat_size(((const struct norm_gradient_args *)args)->sum));
}
