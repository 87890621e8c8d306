/*
 * The squared distance of the rows at both ends of each edge e: j -> i, and its backward; x: N x D, y: E x 1.
 *
 *   y_e = |x_i - x_j|^2    dx_i (+)= sum of 2 dy_e (x_i - x_j) over the edges to i, and over those from i to
 * j
 */
#include "kernels/cpu/edge_sums.h"

static void write_distances(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_distance_args *a = args;
    const int32_t *col = a->adj.col.data;
    int64_t d = a->x.cols, last = a->adj.col.rows - 1;
    const float *restrict own = row_of(a->x, p.row);
    (void)sums;
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict x = row_of(a->x, col[e]);
        float sum = 0;
        edge_fetch_row(a->x, col[min_of(e + edges_ahead(d), last)]);
#pragma omp simd reduction(+ : sum)
        for (int64_t k = 0; k < d; k++)
            sum += (own[k] - x[k]) * (own[k] - x[k]);
        *row_of(a->y, e) = sum;
    }
}

void CPU(edge_distance)(const void *args)
{
    const struct edge_distance_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .d = a->x.cols,
                          .add = write_distances,
                          .args = a};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    edge_sums_run(&s);
}

/* The edges of a row, with their other ends; their numbers are given, or consecutive. */
static void add_differences(const struct edge_distance_backward_args *a, struct edge_piece p,
                            const int32_t *end, const int32_t *number, float *restrict sum)
{
    int64_t d = a->x.cols, last = a->adj.col.rows - 1;
    const float *restrict own = row_of(a->x, p.row);
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict x = row_of(a->x, end[n]);
        float twice = 2 * *row_of(a->dy, number ? number[n] : n);
        edge_fetch_row(a->x, end[min_of(n + edges_ahead(d), last)]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            sum[k] += twice * (own[k] - x[k]);
    }
}

static void add_received(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_distance_backward_args *a = args;
    add_differences(a, p, a->adj.col.data, NULL, sums[0]);
}

static void add_sent(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_distance_backward_args *a = args;
    add_differences(a, p, a->adj.out_col.data, a->adj.out_edge.data, sums[0]);
}

void CPU(edge_distance_backward)(const void *args)
{
    const struct edge_distance_backward_args *a = args;
    struct edge_sums receive = {.call = &a->call,
                                .tasks = edge_tasks(a->adj.row, a->adj.col),
                                .d = a->x.cols,
                                .to = {a->dx},
                                .add = add_received,
                                .args = a,
                                .parts = a->call.scratch};
    struct edge_sums send = receive;
    send.tasks = edge_tasks(a->adj.out_row, a->adj.out_col);
    send.to[0].acc = true;
    send.add = add_sent;
#pragma omp parallel num_threads(edge_sums_threads(&receive))
    {
        edge_sums_run(&receive);
        edge_sums_run(&send);
    }
}

int64_t CPU(edge_distance_backward_scratch)(const void *args)
{
    const struct edge_distance_backward_args *a = args;
    return float_bytes(edge_sums_size(a->adj.row, a->adj.col, a->x.cols));
}
