/*
 * Linear layers and dense attention on CBLAS. The mathematics is that of ref; nothing is packed, fused or
 * recomputed for speed.
 *
 * A task is a block of rows of an output, or one head of one graph, so results do not depend on call.threads.
 */
#if HAVE_CBLAS
#include "kernels/oracle/oracle.h"
#include "kernels/mask.h"

#include <omp.h>

enum { ROWS = 64 };

static real activate(int act, real x)
{
    switch (act) {
    case ACT_GELU:
        return x * 0.5 * erfc(-x * M_SQRT1_2);
    case ACT_GELU_TANH:
        return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case ACT_RELU:
        return x > 0 ? x : 0;
    default:
        return x;
    }
}

static real activation_slope(int act, real x)
{
    real t;
    switch (act) {
    case ACT_GELU:
        return 0.5 * erfc(-x * M_SQRT1_2) + x * exp(-0.5 * x * x) / sqrt(2 * M_PI);
    case ACT_GELU_TANH:
        t = tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
        return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
    case ACT_RELU:
        return x > 0;
    default:
        return 1;
    }
}

void ORACLE(linear)(const void *args)
{
    const struct linear_args *a = args;
    int64_t n = a->y.rows, m = a->y.cols, d = a->x.cols;
#pragma omp parallel for num_threads(a->call.threads) schedule(dynamic)
    for (int64_t first = 0; first < n; first += ROWS) {
        int64_t rows = min_of(ROWS, n - first);
        product(false, true, rows, m, d, 1, at(a->x, first), ld(a->x), at(a->w, 0), ld(a->w), false,
                at(a->y, first), ld(a->y));
        for (int64_t i = first; i < first + rows; i++)
            for (int64_t j = 0; j < m; j++) {
                real z = at(a->y, i)[j] + (mat_present(a->b) ? at(a->b, 0)[j] : 0);
                if (mat_present(a->pre))
                    at(a->pre, i)[j] = z;
                at(a->y, i)[j] = activate(a->act, z);
            }
    }
}

/* Rows first .. of dw and db: sums over all rows of dz. */
static void weight_rows(const struct linear_backward_args *a, const real *dz, int64_t first, int64_t rows)
{
    int64_t n = a->dy.rows, m = a->dy.cols, d = a->x.cols;
    if (mat_present(a->dw))
        product(true, false, rows, d, n, 1, dz + first, m, at(a->x, 0), ld(a->x), a->dw.acc, at(a->dw, first),
                ld(a->dw));
    for (int64_t j = first; mat_present(a->db) && j < first + rows; j++) {
        real sum = a->db.acc ? at(a->db, 0)[j] : 0;
        for (int64_t i = 0; i < n; i++)
            sum += dz[i * m + j];
        at(a->db, 0)[j] = sum;
    }
}

void ORACLE(linear_backward)(const void *args)
{
    const struct linear_backward_args *a = args;
    int64_t n = a->dy.rows, m = a->dy.cols, d = a->x.cols;
    real *dz = a->call.scratch;
#pragma omp parallel num_threads(a->call.threads)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                dz[i * m + j] = at(a->dy, i)[j] * (a->act ? activation_slope(a->act, at(a->pre, i)[j]) : 1);
        if (mat_present(a->dx)) {
#pragma omp for schedule(dynamic) nowait
            for (int64_t i = 0; i < n; i += ROWS)
                product(false, false, min_of(ROWS, n - i), d, m, 1, dz + i * m, m, at(a->w, 0), ld(a->w),
                        a->dx.acc, at(a->dx, i), ld(a->dx));
        }
#pragma omp for schedule(dynamic) nowait
        for (int64_t j = 0; j < m; j += ROWS)
            weight_rows(a, dz, j, min_of(ROWS, m - j));
    }
}

int64_t ORACLE(linear_backward_scratch)(const void *args)
{
    return mat_size(((const struct linear_backward_args *)args)->dy) * (int64_t)sizeof(real);
}

/*
 * Dropout of pairs of head h and graph g, from query `first` on; mask null: none. Pairs of consecutive
 * queries are consecutive entries.
 */
static void drop(const struct mask *mask, struct offsets graphs, int64_t g, int64_t h, int64_t first,
                 int64_t rows, real *pairs)
{
    int64_t n = graph_size(graphs, g), entry = h * graphs.pairs + (first - graph_first(graphs, g)) * n;
    for (int64_t before = 0; before < g; before++)
        entry += graph_size(graphs, before) * graph_size(graphs, before);
    for (int64_t j = 0; mask && j < rows * n; j++)
        pairs[j] = mask_keeps(*mask, entry + j) ? pairs[j] * mask->scale : 0;
}

static void attend(const struct attention_args *a, int64_t g, int64_t h, int64_t first, int64_t rows,
                   const struct mask *mask, real *s)
{
    int64_t at_g = graph_first(a->graphs, g), n = graph_size(a->graphs, g), dh = a->q.cols / a->heads,
            c = h * dh;
    product(false, true, rows, n, dh, 1 / sqrt((real)dh), at(a->q, first) + c, ld(a->q), at(a->k, at_g) + c,
            ld(a->k), false, s, n);
    softmax(s, rows, n, mat_present(a->lse) ? (double *)a->lse.data + first * a->lse.ld + h : NULL,
            a->lse.ld);
    drop(mask, a->graphs, g, h, first, rows, s);
    product(false, false, rows, dh, n, 1, s, n, at(a->v, at_g) + c, ld(a->v), false, at(a->y, first) + c,
            ld(a->y));
}

void ORACLE(attention)(const void *args)
{
    const struct attention_args *a = args;
    struct mask storage;
    const struct mask *mask = mask_given(a->schedule, a->key, a->p, &storage);
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int h = 0; h < a->heads; h++) {
            real *scores = (real *)a->call.scratch + omp_get_thread_num() * ROWS * a->q.rows;
            int64_t end = graph_first(a->graphs, g + 1);
            for (int64_t i = graph_first(a->graphs, g); i < end; i += ROWS)
                attend(a, g, h, i, min_of(ROWS, end - i), mask, scores);
        }
}

int64_t ORACLE(attention_scratch)(const void *args)
{
    const struct attention_args *a = args;
    return a->call.threads * ROWS * a->q.rows * (int64_t)sizeof(real);
}

/* Queries first .. of one head of graph g: s holds the scores, then p; t holds dy v', then ds. */
static void attend_backward(const struct attention_backward_args *a, int64_t g, int64_t h, int64_t first,
                            int64_t rows, const struct mask *mask, real *s, real *t)
{
    int64_t at_g = graph_first(a->graphs, g), n = graph_size(a->graphs, g), dh = a->q.cols / a->heads,
            c = h * dh;
    real scale = 1 / sqrt((real)dh);
    product(false, true, rows, n, dh, scale, at(a->q, first) + c, ld(a->q), at(a->k, at_g) + c, ld(a->k),
            false, s, n);
    product(false, true, rows, n, dh, 1, at(a->dy, first) + c, ld(a->dy), at(a->v, at_g) + c, ld(a->v), false,
            t, n);
    drop(mask, a->graphs, g, h, first, rows, t);
    for (int64_t i = 0; i < rows; i++) {
        double lse = ((const double *)a->lse.data)[(first + i) * a->lse.ld + h];
        real delta = 0;
        for (int64_t k = c; k < c + dh; k++)
            delta += at(a->dy, first + i)[k] * at(a->y, first + i)[k];
        for (int64_t j = i * n; j < (i + 1) * n; j++) {
            s[j] = (real)exp((double)s[j] - lse);
            t[j] = s[j] * (t[j] - delta) * scale;
        }
    }
    drop(mask, a->graphs, g, h, first, rows, s);
    bool add = first > at_g;
    product(false, false, rows, dh, n, 1, t, n, at(a->k, at_g) + c, ld(a->k), a->dq.acc, at(a->dq, first) + c,
            ld(a->dq));
    product(true, false, n, dh, rows, 1, t, n, at(a->q, first) + c, ld(a->q), a->dk.acc || add,
            at(a->dk, at_g) + c, ld(a->dk));
    product(true, false, n, dh, rows, 1, s, n, at(a->dy, first) + c, ld(a->dy), a->dv.acc || add,
            at(a->dv, at_g) + c, ld(a->dv));
}

void ORACLE(attention_backward)(const void *args)
{
    const struct attention_backward_args *a = args;
    struct mask storage;
    const struct mask *mask = mask_given(a->schedule, a->key, a->p, &storage);
    int64_t n = a->q.rows;
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int h = 0; h < a->heads; h++) {
            real *s = (real *)a->call.scratch + omp_get_thread_num() * 2 * ROWS * n;
            int64_t end = graph_first(a->graphs, g + 1);
            for (int64_t i = graph_first(a->graphs, g); i < end; i += ROWS)
                attend_backward(a, g, h, i, min_of(ROWS, end - i), mask, s, s + ROWS * n);
        }
}

int64_t ORACLE(attention_backward_scratch)(const void *args)
{
    const struct attention_backward_args *a = args;
    return 2 * a->call.threads * ROWS * a->q.rows * (int64_t)sizeof(real);
}
#endif
