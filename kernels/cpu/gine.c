/*
 * The sum in GINE and its backward; x, y: N x D, e: E x D. Messages may have weights, g: E x 1.
 *
 *   y_i = self x_i + sum of w relu(x_j + e) over the edges e: j -> i, w = 1 / (1 + exp(-g)), or 1 without g
 *   f_e = dy_i where x_j + e > 0, else 0    de (+)= w f    dx_j (+)= self dy_j + sum of w f over the edges
 * from j dg_e (+)= w (1 - w) sum of f (x_j + e) over the columns
 *
 * The backward is one pass by sender, in which the rows of e and de are gathered by the numbers of the edges.
 */
#include "kernels/cpu/edge_weight.h"

static void add_self(int64_t d, float *restrict sum, float self, const float *restrict x)
{
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        sum[k] += self * x[k];
}

static inline void add_messages(const struct gine_args *a, struct edge_piece p, float *const sums[],
                                bool weighted)
{
    const int32_t *col = a->adj.col.data;
    int64_t d = a->y.cols, last = a->adj.col.rows - 1;
    float *restrict sum = sums[0];
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict x = row_of(a->x, col[n]), *restrict e = row_of(a->e, n);
        float w = weighted ? edge_weight(a->g, n) : 1;
        edge_fetch_row(a->x, col[min_of(n + edges_ahead(d), last)]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float z = x[k] + e[k] <= 0 ? 0 : x[k] + e[k];
            sum[k] += weighted ? w * z : z;
        }
    }
    if (p.ends && a->self != 0)
        add_self(d, sum, (float)a->self, row_of(a->x, p.row));
}

static void add_plain(const void *args, struct edge_piece p, float *const sums[])
{
    add_messages(args, p, sums, false);
}

static void add_weighted(const void *args, struct edge_piece p, float *const sums[])
{
    add_messages(args, p, sums, true);
}

void CPU(gine)(const void *args)
{
    const struct gine_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .d = a->y.cols,
                          .to = {a->y},
                          .add = mat_present(a->g) ? add_weighted : add_plain,
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

static inline void add_gradients(const struct gine_backward_args *a, struct edge_piece p, float *const sums[],
                                 bool weighted)
{
    const int32_t *receiver = a->adj.out_col.data, *number = a->adj.out_edge.data;
    int64_t d = a->dy.cols, last = a->adj.out_col.rows - 1;
    const float *restrict x = row_of(a->x, p.row);
    float *restrict sum = sums[0];
    bool acc = a->de.acc;
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict e = row_of(a->e, number[n]), *restrict dy = row_of(a->dy, receiver[n]);
        float *restrict de = row_of(a->de, number[n]);
        float w = weighted ? edge_weight(a->g, number[n]) : 1, along = 0;
        int64_t ahead = min_of(n + edges_ahead(2 * d), last);
        edge_fetch_row(a->e, number[ahead]);
        edge_fetch_row(a->dy, receiver[ahead]);
#pragma omp simd reduction(+ : along)
        for (int64_t k = 0; k < d; k++) {
            float z = x[k] + e[k], f = z > 0 ? dy[k] : 0;
            along += weighted ? f * z : 0;
            f = weighted ? w * f : f;
            sum[k] += f;
            de[k] = (acc ? de[k] : 0) + f;
        }
        if (weighted)
            edge_weight_gradient(a->dg, number[n], w, along);
    }
    if (p.ends && a->self != 0)
        add_self(d, sum, (float)a->self, row_of(a->dy, p.row));
}

static void add_plain_gradients(const void *args, struct edge_piece p, float *const sums[])
{
    add_gradients(args, p, sums, false);
}

static void add_weighted_gradients(const void *args, struct edge_piece p, float *const sums[])
{
    add_gradients(args, p, sums, true);
}

void CPU(gine_backward)(const void *args)
{
    const struct gine_backward_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                          .d = a->dy.cols,
                          .to = {a->dx},
                          .add = mat_present(a->g) ? add_weighted_gradients : add_plain_gradients,
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
