/*
 * g = x' diag(m) y in double. x: N x D, y: N x M, m: N x 1 or absent.
 *
 * Rows are divided into tasks, each with its own sum in scratch; these are added in order. A task sums ROWS
 * rows at a time in float, in tiles of TALL columns of x by a vector of columns of y, and accumulates these
 * sums in double: over so few terms, float loses less than the products already did.
 */
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/vectors.h"

enum { ROWS = 32, TALL = LANES > 8 ? 16 : 8, TASK_ROWS = 8 * ROWS, TASKS_MOST = 64 };

struct products {
    struct mat g, x, y, m;
    int64_t task_rows;
    double *sums; /* D x M per task */
};

static int64_t task_rows_of(int64_t rows)
{
    return round_up(max_of(TASK_ROWS, blocks_of(rows, TASKS_MOST)), ROWS);
}

/* Columns r .. r + TALL - 1 of `rows` rows of x times m; zero beyond the last column and row. */
static void pack_x(const struct products *p, int64_t first, int64_t rows, int64_t r, float to[ROWS][TALL])
{
    static const float one = 1;
    const float *x = row_of(p->x, first) + r, *m = p->m.data ? row_of(p->m, first) : &one;
    int64_t cols = min_of(TALL, p->x.cols - r), ldm = p->m.data ? p->m.ld : 0;
    if (rows < ROWS || cols < TALL)
        memset(to, 0, sizeof(float[ROWS][TALL]));
    for (int64_t i = 0; i < rows; i++, x += p->x.ld, m += ldm) {
        float factor = *m;
        if (cols == TALL)
            for (int64_t k = 0; k < TALL; k++)
                to[i][k] = factor * x[k];
        else
            for (int64_t k = 0; k < cols; k++)
                to[i][k] = factor * x[k];
    }
}

static void pack_y(const struct products *p, int64_t first, int64_t rows, int64_t c, float to[ROWS][LANES])
{
    int64_t cols = min_of(LANES, p->y.cols - c);
    for (int64_t i = 0; i < ROWS; i++) {
        const float *y = row_of(p->y, first + i) + c;
        for (int64_t k = 0; k < LANES; k++)
            to[i][k] = i < rows && k < cols ? y[k] : 0;
    }
}

/* A tile of the products of ROWS rows; rows of y are ld apart. */
static void multiply_tile(float x[ROWS][TALL], const float *y, int64_t ld, float tile[TALL][LANES])
{
    vec sum[TALL];
    UNROLL
    for (int r = 0; r < TALL; r++)
        sum[r] = (vec){0};
    for (int i = 0; i < ROWS; i++) {
        vec right = load(y + i * ld);
        UNROLL
        for (int r = 0; r < TALL; r++)
            sum[r] += x[i][r] * right;
    }
    UNROLL
    for (int r = 0; r < TALL; r++)
        store(tile[r], sum[r]);
}

static void add_tile(const struct products *p, float tile[TALL][LANES], double *sums, int64_t r, int64_t c)
{
    int64_t tall = min_of(TALL, p->g.rows - r), wide = min_of(LANES, p->g.cols - c);
    for (int64_t i = 0; i < tall; i++) {
        double *to = sums + (r + i) * p->g.cols + c;
        if (wide == LANES)
            for (int64_t k = 0; k < LANES; k++)
                to[k] += tile[i][k];
        else
            for (int64_t k = 0; k < wide; k++)
                to[k] += tile[i][k];
    }
}

/* Adds the products of rows first .. first + rows - 1, at most ROWS. */
static void add_rows(const struct products *p, int64_t first, int64_t rows, double *sums)
{
    float x[ROWS][TALL], y[ROWS][LANES], tile[TALL][LANES];
    for (int64_t r = 0; r < p->g.rows; r += TALL) {
        pack_x(p, first, rows, r, x);
        for (int64_t c = 0; c < p->g.cols; c += LANES) {
            bool whole = rows == ROWS && c + LANES <= p->g.cols;
            if (!whole)
                pack_y(p, first, rows, c, y);
            multiply_tile(x, whole ? row_of(p->y, first) + c : y[0], whole ? p->y.ld : LANES, tile);
            add_tile(p, tile, sums, r, c);
        }
    }
}

static void sum_task(const struct products *p, int64_t t)
{
    int64_t entries = mat_size(p->g), end = min_of((t + 1) * p->task_rows, p->x.rows);
    double *sums = p->sums + t * entries;
    for (int64_t k = 0; k < entries; k++)
        sums[k] = 0;
    for (int64_t i = t * p->task_rows; i < end; i += ROWS)
        add_rows(p, i, min_of(ROWS, end - i), sums);
}

/* Row r of g: the sum over all tasks. */
static void sum_tasks(const struct products *p, int64_t count, int64_t r)
{
    double *g = (double *)p->g.data + r * p->g.ld;
    for (int64_t c = 0; c < p->g.cols; c++)
        g[c] = 0;
    for (int64_t t = 0; t < count; t++)
        for (int64_t c = 0; c < p->g.cols; c++)
            g[c] += p->sums[(t * p->g.rows + r) * p->g.cols + c];
}

void CPU(gram)(const void *args)
{
    const struct gram_args *a = args;
    int64_t size = task_rows_of(a->x.rows), count = blocks_of(a->x.rows, size);
    struct products p = {a->g, a->x, a->y, a->m, size, a->call.scratch};
    int threads = threads_for(&a->call, a->x.rows * mat_size(a->g), 1 << 18);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t t = 0; t < count; t++)
            sum_task(&p, t);
#pragma omp for schedule(static) nowait
        for (int64_t r = 0; r < a->g.rows; r++)
            sum_tasks(&p, count, r);
    }
}

int64_t CPU(gram_scratch)(const void *args)
{
    const struct gram_args *a = args;
    return blocks_of(a->x.rows, task_rows_of(a->x.rows)) * mat_size(a->g) * (int64_t)sizeof(double);
}
