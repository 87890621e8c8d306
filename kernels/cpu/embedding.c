/*
 * Embedding: sums of the rows of a table that indices name, and the backward, a sum over the places of each
 * row of the table. index: N x H, table: M x D.
 *
 *   y_i = sum over t of table_index(i, t)    dtable_r (+)= sum of dy_i over all (i, t) with index(i, t) = r
 *
 * The backward divides the columns among the threads, so that each entry is a sum in the order of the rows
 * whatever their number. If the table has few rows, their sums have many terms: runs of rows are then summed
 * on their own, and added in order, which keeps the error small.
 */
#include "kernels/cpu/elementwise.h"

#include <string.h>

enum { ROWS = 64, LINE = 16 /* floats per cache line */, RUN = 2048 };

static const int64_t *indices_of(struct mat index, int64_t i)
{
    return (const int64_t *)index.data + i * index.ld;
}

static void sum_row(const struct embedding_args *a, int64_t i)
{
    const int64_t *index = indices_of(a->index, i);
    int64_t d = a->y.cols;
    float *restrict y = row_of(a->y, i);
    memcpy(y, row_of(a->table, index[0]), (size_t)d * sizeof *y);
    for (int64_t t = 1; t < a->index.cols; t++) {
        const float *restrict from = row_of(a->table, index[t]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            y[k] += from[k];
    }
}

void CPU(embedding)(const void *args)
{
    const struct embedding_args *a = args;
    int threads = threads_for(&a->call, mat_size(a->y) * a->index.cols, GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < a->y.rows; first += ROWS)
        for (int64_t i = first; i < min_of(a->y.rows, first + ROWS); i++)
            sum_row(a, i);
}

/* The rows that are summed on their own: all, unless they are many more than the table has. */
static int64_t run_rows(const struct embedding_backward_args *a)
{
    int64_t run = max_of(RUN, 8 * a->dtable.rows);
    return run < a->dy.rows ? run : a->dy.rows;
}

static void clear(struct mat m)
{
    for (int64_t r = 0; r < m.rows; r++)
        memset(row_of(m, r), 0, (size_t)m.cols * sizeof(float));
}

/* to += the sums of rows first .. end - 1. */
static void scatter(const struct embedding_backward_args *a, struct mat to, struct mat dy, int64_t first,
                    int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        const int64_t *index = indices_of(a->index, i);
        const float *restrict from = row_of(dy, i);
        for (int64_t t = 0; t < a->index.cols; t++) {
            float *restrict row = row_of(to, index[t]);
#pragma omp simd
            for (int64_t k = 0; k < to.cols; k++)
                row[k] += from[k];
        }
    }
}

/* These columns of dtable, with those of its copy in scratch. */
static void sum_columns(const struct embedding_backward_args *a, int64_t k, int64_t cols)
{
    int64_t run = run_rows(a), n = a->dy.rows, d = a->dtable.cols;
    struct mat to = mat_cols(a->dtable, k, cols), dy = mat_cols(a->dy, k, cols), part = to;
    if (!to.acc)
        clear(to);
    if (run < n)
        part = mat_cols((struct mat){a->call.scratch, to.rows, d, d, .dtype = F32}, k, cols);
    for (int64_t first = 0; first < n; first += run) {
        if (run < n)
            clear(part);
        scatter(a, part, dy, first, min_of(n, first + run));
        for (int64_t r = 0; r < to.rows && run < n; r++)
            add_accumulators(cols, row_of(to, r), true, row_of(part, r), 1, 0);
    }
}

void CPU(embedding_backward)(const void *args)
{
    const struct embedding_backward_args *a = args;
    int64_t d = a->dtable.cols;
    int threads = threads_for(&a->call, mat_size(a->dy) * a->index.cols, GRAIN);
    int64_t strip = round_up(blocks_of(d, threads), LINE);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t k = 0; k < d; k += strip)
        sum_columns(a, k, min_of(strip, d - k));
}

int64_t CPU(embedding_backward_scratch)(const void *args)
{
    const struct embedding_backward_args *a = args;
    return run_rows(a) < a->dy.rows ? float_bytes(mat_size(a->dtable)) : 0;
}
