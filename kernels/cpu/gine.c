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
        int64_t k = 0, ahead = min_of(n + edges_ahead(2 * d), last);
        edge_fetch_row(a->x, col[ahead]);
        edge_fetch_row(a->e, ahead);
        for (; k + LANES <= d; k += LANES) {
            vec z = load(x + k) + load(e + k);
            z = (vec)((vm_ints)z & ~(z <= 0));
            if (weighted)
                z = w * z;
            store(sum + k, load(sum + k) + z);
        }
        for (; k < d; k++) {
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

/* The columns of one edge, which adds to `sum` and sets de; returns the sum of f z. */
INLINE float edge_gradient(const struct gine_backward_args *a, const float *restrict x,
                           const float *restrict e, const float *restrict dy, float w, bool weighted,
                           float *restrict sum, float *restrict de)
{
    int64_t d = a->dy.cols, k = 0;
    vec lanes = {0};
    float rest = 0;
    for (; k + LANES <= d; k += LANES) {
        vec z = load(x + k) + load(e + k), f = (vec)((vm_ints)load(dy + k) & (z > 0));
        if (weighted) {
            lanes += f * z;
            f = w * f;
        }
        store(sum + k, load(sum + k) + f);
        store(de + k, (a->de.acc ? load(de + k) : (vec){0}) + f);
    }
    for (; k < d; k++) {
        float z = x[k] + e[k], f = z > 0 ? dy[k] : 0;
        rest += f * z;
        f = weighted ? w * f : f;
        sum[k] += f;
        de[k] = (a->de.acc ? de[k] : 0) + f;
    }
    return weighted ? vm_sum(lanes) + rest : 0;
}

static inline void add_gradients(const struct gine_backward_args *a, struct edge_piece p, float *const sums[],
                                 bool weighted)
{
    const int32_t *receiver = a->adj.out_col.data, *number = a->adj.out_edge.data;
    int64_t d = a->dy.cols, last = a->adj.out_col.rows - 1;
    const float *x = row_of(a->x, p.row);
    for (int64_t n = p.first; n < p.end; n++) {
        int64_t at = number[n], ahead = min_of(n + edges_ahead(3 * d), last);
        float w = weighted ? edge_weight(a->g, at) : 1;
        edge_fetch_row(a->e, number[ahead]);
        edge_fetch_row(a->dy, receiver[ahead]);
        edge_fetch_row(a->de, number[ahead]);
        float along = edge_gradient(a, x, row_of(a->e, at), row_of(a->dy, receiver[n]), w, weighted, sums[0],
                                    row_of(a->de, at));
        if (weighted)
            edge_weight_gradient(a->dg, at, w, along);
    }
    if (p.ends && a->self != 0)
        add_self(d, sums[0], (float)a->self, row_of(a->dy, p.row));
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
