/*
 * The aggregation of GatedGCN and its backward; b, y: N x D, h: E x D, for the edges e: j -> i.
 *
 *   s_e = 1 / (1 + exp(-h_e))    sum_i = eps + sum of s_e    y_i = sum of s_e b_j / sum_i
 *   g_i = dy_i / sum_i    db_j (+)= sum of s_e g_i over the edges from j
 *   dh_e (+)= g_i (b_j - y_i) s_e (1 - s_e)
 *
 * The backward is one pass by sender, so that each gate is computed once; the rows of h and dh are gathered
 * by the numbers of the edges.
 */
#include "kernels/cpu/edge_sums.h"
#include "kernels/cpu/vector_math.h"

static void add_gated(const void *args, struct edge_piece p, float *const sums[])
{
    const struct gated_mean_args *a = args;
    const int32_t *col = a->adj.col.data;
    int64_t d = a->y.cols, last = a->adj.col.rows - 1;
    float *restrict y = sums[0], *restrict sum = sums[1];
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict h = row_of(a->h, e), *restrict b = row_of(a->b, col[e]);
        edge_fetch_row(a->b, col[min_of(e + EDGES_AHEAD, last)]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float s = vm_logistic(h[k]);
            y[k] += s * b[k];
            sum[k] += s;
        }
    }
}

static void divide(const struct gated_mean_args *a, struct mat sums, int64_t i)
{
    float *restrict y = row_of(a->y, i), *restrict sum = row_of(sums, i), eps = (float)a->eps;
#pragma omp simd
    for (int64_t k = 0; k < a->y.cols; k++) {
        sum[k] += eps;
        y[k] /= sum[k];
    }
}

void CPU(gated_mean)(const void *args)
{
    const struct gated_mean_args *a = args;
    int64_t d = a->y.cols;
    struct mat sum = a->sum;
    if (!mat_present(sum))
        sum = (struct mat){.data = a->call.scratch, .rows = a->y.rows, .cols = d, .ld = d, .dtype = F32};
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.row, a->adj.col),
                          .d = d,
                          .to = {a->y, sum},
                          .add = add_gated,
                          .args = a,
                          .parts = (float *)a->call.scratch + (mat_present(a->sum) ? 0 : a->y.rows * d)};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    {
        edge_sums_run(&s);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < a->y.rows; i++)
            divide(a, sum, i);
    }
}

int64_t CPU(gated_mean_scratch)(const void *args)
{
    const struct gated_mean_args *a = args;
    int64_t d = a->b.cols, sums = mat_present(a->sum) ? 0 : a->b.rows * d;
    return float_bytes(sums + edge_sums_size(a->adj.row, a->adj.col, d));
}

/* g is at the start of the scratch buffer, N x D. */
static void add_gradients(const void *args, struct edge_piece p, float *const sums[])
{
    const struct gated_mean_backward_args *a = args;
    const int32_t *receiver = a->adj.out_col.data, *number = a->adj.out_edge.data;
    int64_t d = a->dy.cols, last = a->adj.out_col.rows - 1;
    const float *restrict b = row_of(a->b, p.row);
    float *restrict sum = sums[0];
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict h = row_of(a->h, number[n]), *restrict y = row_of(a->y, receiver[n]);
        const float *restrict g = (const float *)a->call.scratch + receiver[n] * d;
        float *restrict dh = row_of(a->dh, number[n]);
        int64_t ahead = min_of(n + EDGES_AHEAD, last);
        edge_fetch_row(a->h, number[ahead]);
        edge_fetch_row(a->y, receiver[ahead]);
        if (!a->dh.acc) /* here, because gcc does not vectorise the loop if it is there */
            memset(dh, 0, (size_t)d * sizeof *dh);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float s = vm_logistic(h[k]);
            sum[k] += s * g[k];
            dh[k] += g[k] * (b[k] - y[k]) * s * (1 - s);
        }
    }
}

/* Row i of g. */
static void divide_gradient(const struct gated_mean_backward_args *a, int64_t i)
{
    int64_t d = a->dy.cols;
    float *restrict g = (float *)a->call.scratch + i * d;
    const float *restrict dy = row_of(a->dy, i), *restrict sum = row_of(a->sum, i);
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        g[k] = dy[k] / sum[k];
}

void CPU(gated_mean_backward)(const void *args)
{
    const struct gated_mean_backward_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                          .d = a->dy.cols,
                          .to = {a->db},
                          .add = add_gradients,
                          .args = a,
                          .parts = (float *)a->call.scratch + mat_size(a->dy)};
#pragma omp parallel num_threads(edge_sums_threads(&s))
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < a->dy.rows; i++)
            divide_gradient(a, i);
        edge_sums_run(&s);
    }
}

int64_t CPU(gated_mean_backward_scratch)(const void *args)
{
    const struct gated_mean_backward_args *a = args;
    return float_bytes(mat_size(a->dy) + edge_sums_size(a->adj.out_row, a->adj.out_col, a->dy.cols));
}
