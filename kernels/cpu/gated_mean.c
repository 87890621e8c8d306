/*
 * The aggregation of GatedGCN and its backward; b, y: N x D, h: E x D, for the edges e: j -> i. Gates may
 * have weights, g: E x 1.
 *
 *   s_e = 1 / (1 + exp(-h_e))    w = 1 / (1 + exp(-g)), or 1 without g
 *   sum_i = eps + sum of w s_e    y_i = sum of w s_e b_j / sum_i
 *   f_i = dy_i / sum_i    db_j (+)= sum of w s_e f_i over the edges from j
 *   r_e = f_i (b_j - y_i) s_e    dh_e (+)= w r_e (1 - s_e)    dg_e (+)= w (1 - w) sum of r_e over the columns
 *
 * The backward is one pass by sender, so that each gate is computed once; the rows of h and dh are gathered
 * by the numbers of the edges.
 */
#include "kernels/cpu/edge_weight.h"

static inline void add_gated(const struct gated_mean_args *a, struct edge_piece p, float *const sums[],
                             bool weighted)
{
    const int32_t *col = a->adj.col.data;
    int64_t d = a->y.cols, last = a->adj.col.rows - 1;
    float *restrict y = sums[0], *restrict sum = sums[1];
    for (int64_t e = p.first; e < p.end; e++) {
        const float *restrict h = row_of(a->h, e), *restrict b = row_of(a->b, col[e]);
        float w = weighted ? edge_weight(a->g, e) : 1;
        edge_fetch_row(a->b, col[min_of(e + edges_ahead(d), last)]);
#pragma omp simd
        for (int64_t k = 0; k < d; k++) {
            float s = weighted ? w * vm_logistic(h[k]) : vm_logistic(h[k]);
            y[k] += s * b[k];
            sum[k] += s;
        }
    }
}

static void add_plain(const void *args, struct edge_piece p, float *const sums[])
{
    add_gated(args, p, sums, false);
}

static void add_weighted(const void *args, struct edge_piece p, float *const sums[])
{
    add_gated(args, p, sums, true);
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
                          .add = mat_present(a->g) ? add_weighted : add_plain,
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

/* Sums are in scratch if they are not saved. */
int64_t CPU(gated_mean_scratch)(const void *args)
{
    const struct gated_mean_args *a = args;
    int64_t sums = mat_present(a->sum) ? 0 : a->b.rows * a->b.cols;
    return float_bytes(sums + edge_sums_size(a->adj.row, a->adj.col, a->b.cols));
}

/* f is at the start of the scratch buffer, N x D. */
static inline void add_gradients(const struct gated_mean_backward_args *a, struct edge_piece p,
                                 float *const sums[], bool weighted)
{
    const int32_t *receiver = a->adj.out_col.data, *number = a->adj.out_edge.data;
    int64_t d = a->dy.cols, last = a->adj.out_col.rows - 1;
    const float *restrict b = row_of(a->b, p.row);
    float *restrict sum = sums[0];
    for (int64_t n = p.first; n < p.end; n++) {
        const float *restrict h = row_of(a->h, number[n]), *restrict y = row_of(a->y, receiver[n]);
        const float *restrict f = (const float *)a->call.scratch + receiver[n] * d;
        float *restrict dh = row_of(a->dh, number[n]);
        float w = weighted ? edge_weight(a->g, number[n]) : 1, all = 0;
        int64_t ahead = min_of(n + edges_ahead(2 * d), last);
        edge_fetch_row(a->h, number[ahead]);
        edge_fetch_row(a->y, receiver[ahead]);
        if (!a->dh.acc) /* here, because gcc does not vectorise the loop if it is there */
            memset(dh, 0, (size_t)d * sizeof *dh);
#pragma omp simd reduction(+ : all)
        for (int64_t k = 0; k < d; k++) {
            float s = vm_logistic(h[k]), r = f[k] * (b[k] - y[k]) * s;
            all += weighted ? r : 0;
            sum[k] += (weighted ? w * s : s) * f[k];
            dh[k] += (weighted ? w * r : r) * (1 - s);
        }
        if (weighted)
            edge_weight_gradient(a->dg, number[n], w, all);
    }
}

static void add_plain_gradients(const void *args, struct edge_piece p, float *const sums[])
{
    add_gradients(args, p, sums, false);
}

static void add_weighted_gradients(const void *args, struct edge_piece p, float *const sums[])
{
    add_gradients(args, p, sums, true);
}

/* Row i of f. */
static void divide_gradient(const struct gated_mean_backward_args *a, int64_t i)
{
    int64_t d = a->dy.cols;
    float *restrict f = (float *)a->call.scratch + i * d;
    const float *restrict dy = row_of(a->dy, i), *restrict sum = row_of(a->sum, i);
#pragma omp simd
    for (int64_t k = 0; k < d; k++)
        f[k] = dy[k] / sum[k];
}

void CPU(gated_mean_backward)(const void *args)
{
    const struct gated_mean_backward_args *a = args;
    struct edge_sums s = {.call = &a->call,
                          .tasks = edge_tasks(a->adj.out_row, a->adj.out_col),
                          .d = a->dy.cols,
                          .to = {a->db},
                          .add = mat_present(a->g) ? add_weighted_gradients : add_plain_gradients,
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
