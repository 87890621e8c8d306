/*
 * Aggregations of the rows of edges e: j -> i, and their backward; x: E x D, the others N x D.
 *
 *   edge_mean    y_i = sum of x_e / n, dx_e (+)= dy_i / n, over the n edges to i from other nodes
 *   edge_pool    sum_i = sum of x_e    mean_i = sum_i / n    max_i = max x_e, over the n edges to i
 *                dx_e (+)= dsum_i + dmean_i / n + (dmax_i / number of edges with x = max_i where x_e is
 * max_i)
 *
 * Without edges all are 0. The rows of a node's edges are consecutive.
 */
#include "kernels/cpu/edge_sums.h"

/* The edges to node i; of edge_mean only those from others. */
static int64_t edges_to(struct edges adj, int64_t i, bool from_others)
{
    const int64_t *row = adj.row.data;
    const int32_t *col = adj.col.data;
    int64_t count = row[i + 1] - row[i];
    for (int64_t e = row[i]; e < row[i + 1] && from_others; e++)
        count -= col[e] == i;
    return count;
}

static float share_of(int64_t count)
{
    return 1 / (float)max_of(1, count);
}

/* --- edge_mean */

static void add_from_others(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_mean_args *a = args;
    const int32_t *col = a->adj.col.data;
    float *restrict sum = sums[0];
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict x = row_of(a->x, e);
#pragma omp simd
        for (int64_t k = 0; k < a->y.cols; k++)
            sum[k] += col[e] == p.row ? 0 : x[k];
    }
}

void CPU(edge_mean)(const void *args)
{
    const struct edge_mean_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .d = a->y.cols,
                          .to = {a->y},
                          .add = add_from_others,
                          .args = a,
                          .parts = a->call.scratch};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    {
        edge_sums_run(&s);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < a->y.rows; i++) {
            float *restrict y = row_of(a->y, i), share = share_of(edges_to(a->adj, i, true));
            for (int64_t k = 0; k < a->y.cols; k++)
                y[k] *= share;
        }
    }
}

int64_t CPU(edge_mean_scratch)(const void *args)
{
    const struct edge_mean_args *a = args;
    return float_bytes(edge_sums_size(a->adj.row, a->adj.col, a->y.cols));
}

static void share_mean(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_mean_backward_args *a = args;
    const int32_t *col = a->adj.col.data;
    const float *restrict dy = row_of(a->dy, p.row);
    float share = share_of(edges_to(a->adj, p.row, true));
    bool acc = a->dx.acc;
    (void)sums;
    for (int64_t e = p.first; e < p.end; e++) {
        float *restrict dx = row_of(a->dx, e), own = col[e] == p.row ? 0 : share;
#pragma omp simd
        for (int64_t k = 0; k < a->dy.cols; k++)
            dx[k] = (acc ? dx[k] : 0) + own * dy[k];
    }
}

void CPU(edge_mean_backward)(const void *args)
{
    const struct edge_mean_backward_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .d = a->dy.cols,
                          .add = share_mean,
                          .args = a};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    edge_sums_run(&s);
}

/* --- edge_pool */

static void add_statistics(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_pool_args *a = args;
    float *restrict sum = sums[0], *restrict top = sums[1];
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict x = row_of(a->x, e);
#pragma omp simd
        for (int64_t k = 0; k < a->sum.cols; k++) {
            sum[k] += x[k];
            top[k] = vm_larger(x[k], top[k]);
        }
    }
}

static struct edge_sums statistics_of(const struct edge_pool_args *a)
{
    return (struct edge_sums){.call = &a->call,
                              .tasks = edge_tasks(a->adj.row, a->adj.col),
                              .d = a->sum.cols,
                              .to = {a->sum, a->max},
                              .largest = {false, true},
                              .add = add_statistics,
                              .args = a,
                              .parts = a->call.scratch};
}

void CPU(edge_pool)(const void *args)
{
    const struct edge_pool_args *a = args;
    struct edge_sums s = statistics_of(a);
#pragma omp parallel num_threads(edge_sums_threads(&s))
    {
        edge_sums_run(&s);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < a->sum.rows; i++) {
            int64_t edges = edges_to(a->adj, i, false);
            float *restrict mean = row_of(a->mean, i), *max = row_of(a->max, i), share = share_of(edges);
            const float *restrict sum = row_of(a->sum, i);
            for (int64_t k = 0; k < a->sum.cols; k++)
                mean[k] = sum[k] * share;
            if (edges == 0)
                memset(max, 0, (size_t)a->sum.cols * sizeof *max);
        }
    }
}

int64_t CPU(edge_pool_scratch)(const void *args)
{
    const struct edge_pool_args *a = args;
    return float_bytes(edge_sums_size(a->adj.row, a->adj.col, a->sum.cols));
}

static void count_ties(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_pool_backward_args *a = args;
    const float *restrict max = row_of(a->max, p.row);
    float *restrict ties = sums[0];
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict x = row_of(a->x, e);
#pragma omp simd
        for (int64_t k = 0; k < a->max.cols; k++)
            ties[k] += x[k] == max[k] ? 1 : 0;
    }
}

/* The ties of all nodes are at the start of the scratch buffer, N x D. */
static void share_pool(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_pool_backward_args *a = args;
    int64_t d = a->max.cols;
    const float *restrict max = row_of(a->max, p.row), *restrict dmax = row_of(a->dmax, p.row);
    const float *restrict dsum = row_of(a->dsum, p.row), *restrict dmean = row_of(a->dmean, p.row);
    const float *restrict ties = (const float *)a->call.scratch + p.row * d;
    float share = share_of(edges_to(a->adj, p.row, false));
    bool acc = a->dx.acc;
    (void)sums;
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict x = row_of(a->x, e);
        float *restrict dx = row_of(a->dx, e);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float g = dsum[k] + dmean[k] * share + (x[k] == max[k] ? dmax[k] / ties[k] : 0);
            dx[k] = (acc ? dx[k] : 0) + g;
        }
    }
}

void CPU(edge_pool_backward)(const void *args)
{
    const struct edge_pool_backward_args *a = args;
    int64_t n = a->max.rows, d = a->max.cols;
    struct edge_sums ties = {.call = &a->call,
                             .tasks = edge_tasks(a->adj.row, a->adj.col),
                             .d = d,
                             .to = {{.data = a->call.scratch, .rows = n, .cols = d, .ld = d, .dtype = F32}},
                             .add = count_ties,
                             .args = a,
                             .parts = (float *)a->call.scratch + n * d};
    struct edge_sums write = ties;
    write.to[0] = (struct mat){0};
    write.add = share_pool;
#pragma omp parallel num_threads(edge_sums_threads(&ties))
    {
        edge_sums_run(&ties);
        edge_sums_run(&write);
    }
}

int64_t CPU(edge_pool_backward_scratch)(const void *args)
{
    const struct edge_pool_backward_args *a = args;
    return float_bytes(mat_size(a->max) + edge_sums_size(a->adj.row, a->adj.col, a->max.cols));
}
