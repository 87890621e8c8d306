/*
 * The sum in GINE and its backward; x, y: N x D, e: E x D.
 *
 *   y_i = self x_i + sum of relu(x_j + e) over the edges e: j -> i
 *   g_e = dy_i where x_j + e > 0, else 0    de (+)= g    dx_j (+)= self dy_j + sum of g over the edges from j
 *
 * The backward is one pass by sender, in which the rows of e and de are gathered by the numbers of the edges.
 */
#include "kernels/cpu/edge_sums.h"

static void add_self(int64_t d, float *restrict sum, float self, const float *restrict x)
{
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        sum[k] += self * x[k];
}

static void add_messages(const void *args, struct edge_piece p, float *const sums[])
{
    const struct gine_args *a = args;
    const int32_t *col = a->adj.col.data;
    int64_t d = a->y.cols, last = a->adj.col.rows - 1;
    float *restrict sum = sums[0];
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict x = row_of(a->x, col[n]), *restrict e = row_of(a->e, n);
        edge_fetch_row(a->x, col[min_of(n + EDGES_AHEAD, last)]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float z = x[k] + e[k];
            sum[k] += z > 0 ? z : 0;
        }
    }
    if (p.ends && a->self != 0)
        add_self(d, sum, (float)a->self, row_of(a->x, p.row));
}

void CPU(gine)(const void *args)
{
    const struct gine_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .d = a->y.cols,
                          .to = {a->y},
                          .add = add_messages,
                          .args = a,
                          .parts = a->call.scratch};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    edge_sums_run(&s);
}

int64_t CPU(gine_scratch)(const void *args)
{
    const struct gine_args *a = args;
    return float_bytes(edge_sums_size(a->adj.row, a->adj.col, a->x.cols));
}

static void add_gradients(const void *args, struct edge_piece p, float *const sums[])
{
    const struct gine_backward_args *a = args;
    const int32_t *receiver = a->adj.out_col.data, *number = a->adj.out_edge.data;
    int64_t d = a->dy.cols, last = a->adj.out_col.rows - 1;
    const float *restrict x = row_of(a->x, p.row);
    float *restrict sum = sums[0];
    bool acc = a->de.acc;
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict e = row_of(a->e, number[n]), *restrict dy = row_of(a->dy, receiver[n]);
        float *restrict de = row_of(a->de, number[n]);
        int64_t ahead = min_of(n + EDGES_AHEAD, last);
        edge_fetch_row(a->e, number[ahead]);
        edge_fetch_row(a->dy, receiver[ahead]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float g = x[k] + e[k] > 0 ? dy[k] : 0;
            sum[k] += g;
            de[k] = (acc ? de[k] : 0) + g;
        }
    }
    if (p.ends && a->self != 0)
        add_self(d, sum, (float)a->self, row_of(a->dy, p.row));
}

void CPU(gine_backward)(const void *args)
{
    const struct gine_backward_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                          .d = a->dy.cols,
                          .to = {a->dx},
                          .add = add_gradients,
                          .args = a,
                          .parts = a->call.scratch};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    edge_sums_run(&s);
}

int64_t CPU(gine_backward_scratch)(const void *args)
{
    const struct gine_backward_args *a = args;
    return float_bytes(edge_sums_size(a->adj.out_row, a->adj.out_col, a->dy.cols));
}
