/*
 * Aggregations of the rows of edges e: j -> i, N x D, E x D. Nodes without edges have zeros.
 *
 *   edge_mean    y_i = mean of x_e, dx_e = dy_i / n, over the n edges to i from other nodes; 0 on loops
 *   edge_pool    sum_i = sum of x_e    mean_i = sum_i / n    max_i = max x_e, over the n edges to i
 *                dx_e = dsum_i + dmean_i / n + (dmax_i / number of edges to i with x = max_i, where x_e is
 *                max_i)
 */
#include "kernels/ref/loops.h"

static int64_t edges_from_others(const struct edges *adj, int64_t i)
{
    struct rows edges = edges_of(adj->row, i);
    int64_t count = 0;
    for (int64_t e = edges.first; e < edges.end; e++)
        count += edge_end(adj->col, e) != i;
    return count;
}

static real divisor(int64_t count)
{
    return R(count > 0 ? count : 1);
}

/* Whether rows are requested, but none of these edges: their node's part of the work is not needed. */
static bool not_wanted(struct call call, struct rows edges)
{
    return call.row1 && !rows_any(edges);
}

REF(edge_mean, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    begin_sums(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct rows edges = edges_of(a->adj.row, i);
        real n = divisor(edges_from_others(&a->adj, i));
        for (int64_t k = 0; k < a->y.cols; k++) {
            for (int64_t e = edges.first; e < edges.end; e++)
                AT(a->y, i, k) += edge_end(a->adj.col, e) == i ? R(0) : AT(a->x, e, k);
            AT(a->y, i, k) = AT(a->y, i, k) / n;
        }
    }
}

REF(edge_mean_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t i = 0; i < a->dy.rows; i++) {
        struct rows edges = rows_common(edges_of(a->adj.row, i), rows);
        real n = divisor(edges_from_others(&a->adj, i));
        for (int64_t k = 0; k < a->dy.cols && !not_wanted(a->call, edges); k++) {
            real share = AT(a->dy, i, k) / n;
            for (int64_t e = edges.first; e < edges.end; e++)
                put(a->dx, e, k, edge_end(a->adj.col, e) == i ? R(0) : share);
        }
    }
}

static void pool_row(const struct edge_pool_args *a, int64_t i, int64_t k)
{
    struct rows edges = edges_of(a->adj.row, i);
    real sum = R(0), top = rows_any(edges) ? AT(a->x, edges.first, k) : R(0);
    for (int64_t e = edges.first; e < edges.end; e++) {
        sum += AT(a->x, e, k);
        top = r_max(top, AT(a->x, e, k));
    }
    AT(a->sum, i, k) = sum;
    AT(a->mean, i, k) = sum / divisor(edges.end - edges.first);
    AT(a->max, i, k) = top;
}

REF(edge_pool, 0)
{
    struct rows rows = rows_wanted(a->call, a->sum);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->sum.cols; k++)
            pool_row(a, i, k);
}

/* Column k of the wanted ones of all edges to i. */
static void share_out(const struct edge_pool_backward_args *a, struct rows all, struct rows wanted, int64_t i,
                      int64_t k)
{
    real base = AT(a->dsum, i, k) + AT(a->dmean, i, k) / divisor(all.end - all.first), ties = R(0);
    for (int64_t e = all.first; e < all.end; e++)
        ties += r_match(AT(a->x, e, k), AT(a->max, i, k), R(1));
    real share = AT(a->dmax, i, k) / ties;
    for (int64_t e = wanted.first; e < wanted.end; e++)
        put(a->dx, e, k, base + r_match(AT(a->x, e, k), AT(a->max, i, k), share));
}

REF(edge_pool_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t i = 0; i < a->max.rows; i++) {
        struct rows all = edges_of(a->adj.row, i), wanted = rows_common(all, rows);
        for (int64_t k = 0; k < a->max.cols && !not_wanted(a->call, wanted); k++)
            share_out(a, all, wanted, i, k);
    }
}
