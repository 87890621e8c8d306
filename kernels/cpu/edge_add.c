/*
 * A row for each edge e: j -> i, and its backward; a, b: N x D, c, y: E x D.
 *
 *   y_e = a_i + b_j + c_e
 *   da_i (+)= sum of dy over the edges to i    db_j (+)= sum of dy over the edges from j
 *
 * Gradients are two passes, by receiver, in which the rows of dy come in order, and by sender.
 */
#include "kernels/cpu/edge_sums.h"

static void write_edges(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_add_args *r = args;
    const int32_t *col = r->adj.col.data;
    int64_t d = r->y.cols, last = r->adj.col.rows - 1;
    const float *restrict a = row_of(r->a, p.row);
    (void)sums;
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict b = row_of(r->b, col[e]), *restrict c = row_of(r->c, e);
        float *restrict y = row_of(r->y, e);
        edge_fetch_row(r->b, col[min_of(e + edges_ahead(d), last)]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            y[k] = a[k] + b[k] + (c ? c[k] : 0);
    }
}

void CPU(edge_add)(const void *args)
{
    const struct edge_add_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .d = a->y.cols,
                          .add = write_edges,
                          .args = a};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    edge_sums_run(&s);
}

/* Without edges dy is absent. */
static int64_t columns_of(const struct edge_add_backward_args *a)
{
    return mat_present(a->da) ? a->da.cols : a->db.cols;
}

/* The sum of dy over the edges of a row, whose numbers are given, or consecutive. */
static void add_edges(const struct edge_add_backward_args *a, struct edge_piece p, const int32_t *number,
                      float *restrict sum)
{
    int64_t d = a->dy.cols, last = a->dy.rows - 1;
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict dy = row_of(a->dy, number ? number[n] : n);
        if (number)
            edge_fetch_row(a->dy, number[min_of(n + edges_ahead(d), last)]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++)
            sum[k] += dy[k];
    }
}

static void add_received(const void *args, struct edge_piece p, float *const sums[])
{
    add_edges(args, p, NULL, sums[0]);
}

static void add_sent(const void *args, struct edge_piece p, float *const sums[])
{
    const struct edge_add_backward_args *a = args;
    add_edges(a, p, a->adj.out_edge.data, sums[0]);
}

void CPU(edge_add_backward)(const void *args)
{
    const struct edge_add_backward_args *a = args;
    struct edge_sums receive = {.call = &a->call,
                                .tasks = edge_tasks(a->adj.row, a->adj.col),
                                .d = columns_of(a),
                                .to = {a->da},
                                .add = add_received,
                                .args = a,
                                .parts = a->call.scratch};
    struct edge_sums send = receive;
    send.tasks = edge_tasks(a->adj.out_row, a->adj.out_col);
    send.to[0] = a->db;
    send.add = add_sent;
#pragma omp parallel num_threads(edge_sums_threads(&receive))
    {
        if (mat_present(a->da))
            edge_sums_run(&receive);
        if (mat_present(a->db))
            edge_sums_run(&send);
    }
}

int64_t CPU(edge_add_backward_scratch)(const void *args)
{
    const struct edge_add_backward_args *a = args;
    return float_bytes(edge_sums_size(a->adj.row, a->adj.col, columns_of(a)));
}
