/*
 * Embedding: sums of the rows of a table that indices name, and the backward, a sum over the places of each
 * row of the table. index: N x H, table: M x D.
 *
 *   y_i = sum over t of table_index(i, t)    dtable_r (+)= sum of dy_i over all (i, t) with index(i, t) = r
 *
 * The backward divides the columns into strips for the threads, so that each entry is a sum in the order of
 * the rows whatever their number. If the table has few rows, a strip's sums are formed in scratch, where its
 * rows follow each other and stay in the nearest cache; and as they have many terms, runs of rows are summed
 * on their own, and added in order, which keeps the error small.
 */
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/vectors.h"

#include <omp.h>
#include <string.h>

enum {
    ROWS = 64,
    VECTORS = 4,
    RUN = 2048,
    LINE = 16,      /* floats per cache line */
    STRIP = 32,     /* columns, at least */
    PART = 256 * 32 /* floats for which the nearest cache has room */
};

static const int64_t *indices_of(struct mat index, int64_t i)
{
    return (const int64_t *)index.data + i * index.ld;
}

/* Columns k .. k + vectors * LANES - 1 of row i; `vectors` is a constant. */
INLINE void sum_vectors(const struct embedding_args *a, const int64_t *index, int64_t i, int64_t k,
                        int vectors)
{
    vec sum[VECTORS];
    UNROLL
    for (int v = 0; v < vectors; v++)
        sum[v] = load(row_of(a->table, index[0]) + k + v * LANES);
    for (int64_t t = 1; t < a->index.cols; t++) {
        const float *from = row_of(a->table, index[t]) + k;
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v] += load(from + v * LANES);
    }
    UNROLL
    for (int v = 0; v < vectors; v++)
        store(row_of(a->y, i) + k + v * LANES, sum[v]);
}

static void sum_row(const struct embedding_args *a, int64_t i)
{
    const int64_t *index = indices_of(a->index, i);
    int64_t d = a->y.cols, k = 0;
    for (; k + VECTORS * LANES <= d; k += VECTORS * LANES)
        sum_vectors(a, index, i, k, VECTORS);
    for (; k + LANES <= d; k += LANES)
        sum_vectors(a, index, i, k, 1);
    for (; k < d; k++) {
        float sum = row_of(a->table, index[0])[k];
        for (int64_t t = 1; t < a->index.cols; t++)
            sum += row_of(a->table, index[t])[k];
        row_of(a->y, i)[k] = sum;
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

/* Whether the sums of a strip, or of a run, are formed in scratch. */
static bool has_part(const struct embedding_backward_args *a)
{
    return run_rows(a) < a->dy.rows || a->dtable.rows <= PART / STRIP;
}

/* The columns of a strip: all of a thread, unless their sums in scratch would not fit in the nearest cache.
 */
static int64_t strip_of(const struct embedding_backward_args *a, int64_t threads)
{
    int64_t own = blocks_of(a->dtable.cols, threads), most = max_of(STRIP, PART / a->dtable.rows);
    return round_up(has_part(a) ? min_of(own, most) : own, LINE);
}

/* to += the sums of these columns of rows first .. end - 1; of few, `cols` is best a constant. */
INLINE void scatter(const struct embedding_backward_args *a, struct mat to, struct mat dy, int64_t first,
                    int64_t end, int64_t cols)
{
    for (int64_t i = first; i < end; i++) {
        const int64_t *index = indices_of(a->index, i);
        const float *restrict from = row_of(dy, i);
        for (int64_t t = 0; t < a->index.cols; t++) {
            float *restrict row = row_of(to, index[t]);
            int64_t k = 0;
            for (; k + STRIP <= cols; k += STRIP) {
#pragma omp simd
                for (int64_t c = k; c < k + STRIP; c++)
                    row[c] += from[c];
            }
#pragma omp simd
            for (int64_t c = k; c < cols; c++)
                row[c] += from[c];
        }
    }
}

static void clear(struct mat m)
{
    for (int64_t r = 0; r < m.rows; r++)
        memset(row_of(m, r), 0, (size_t)m.cols * sizeof(float));
}

/* These columns of dtable; `scratch` is for their sums if has_part. */
static void sum_columns(const struct embedding_backward_args *a, int64_t k, int64_t cols, float *scratch)
{
    int64_t run = run_rows(a), n = a->dy.rows;
    struct mat to = mat_cols(a->dtable, k, cols), dy = mat_cols(a->dy, k, cols);
    struct mat part = has_part(a) ? (struct mat){scratch, to.rows, cols, cols, .dtype = F32} : to;
    if (!to.acc)
        clear(to);
    for (int64_t first = 0; first < n; first += run) {
        if (has_part(a))
            clear(part);
        if (cols == STRIP)
            scatter(a, part, dy, first, min_of(n, first + run), STRIP);
        else
            scatter(a, part, dy, first, min_of(n, first + run), cols);
        for (int64_t r = 0; r < to.rows && has_part(a); r++)
            add_accumulators(cols, row_of(to, r), true, row_of(part, r), 1, 0);
    }
}

static int threads_of(const struct embedding_backward_args *a)
{
    return threads_for(&a->call, mat_size(a->dy) * a->index.cols, GRAIN);
}

static int64_t part_bytes(const struct embedding_backward_args *a)
{
    return has_part(a) ? float_bytes(a->dtable.rows * strip_of(a, threads_of(a))) : 0;
}

void CPU(embedding_backward)(const void *args)
{
    const struct embedding_backward_args *a = args;
    int64_t d = a->dtable.cols, strip = strip_of(a, threads_of(a));
#pragma omp parallel for schedule(static) num_threads(threads_of(a))
    for (int64_t k = 0; k < d; k += strip) {
        float *part = has_part(a) ? a->call.scratch : NULL;
        if (part)
            part += omp_get_thread_num() * part_bytes(a) / (int64_t)sizeof *part;
        sum_columns(a, k, min_of(strip, d - k), part);
    }
}

int64_t CPU(embedding_backward_scratch)(const void *args)
{
    const struct embedding_backward_args *a = args;
    return threads_of(a) * part_bytes(a);
}
