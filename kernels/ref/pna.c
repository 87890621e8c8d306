/*
 * Aggregations of PNA (Corso et al., "Principal neighbourhood aggregation for graph nets", 2020) of messages
 * a_i + b_j over the edges e: j -> i. A node without edges has zeros.
 *
 *   sum_i = n a_i + sum b_j    mean_i = sum_i / n    max_i = a_i + top_i, top_i = max b_j    n edges to i
 *   g_e = dsum_i + dmean_i / n + (dmax_i / number of edges to i with b_j = top_i, where b_j is top_i)
 *   da_i = sum of g_e = n dsum_i + dmean_i + dmax_i    db_j = sum of g_e over the edges from j
 */
#include "kernels/ref/loops.h"

static void pool_row(const struct pna_pool_args *a, int64_t i, int64_t k)
{
    struct rows edges = edges_of(a->adj.row, i);
    int64_t n = edges.end - edges.first;
    real sum = R(0), top = n > 0 ? AT(a->b, edge_end(a->adj.col, edges.first), k) : R(0);
    for (int64_t e = edges.first; e < edges.end; e++) {
        sum += AT(a->b, edge_end(a->adj.col, e), k);
        top = r_max(top, AT(a->b, edge_end(a->adj.col, e), k));
    }
    real all = R(n) * AT(a->a, i, k) + sum, largest = AT(a->a, i, k) + top;
    AT(a->sum, i, k) = all;
    AT(a->mean, i, k) = all / R(n > 0 ? n : 1);
    AT(a->max, i, k) = n > 0 ? largest : R(0);
    if (mat_present(a->top))
        AT(a->top, i, k) = top;
}

REF(pna_pool, 0)
{
    struct rows rows = rows_wanted(a->call, a->sum);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->sum.cols; k++)
            pool_row(a, i, k);
}

/* What column k of the edges to i contributes to db. */
static void share_out(const struct pna_pool_backward_args *a, struct rows wanted, int64_t i, int64_t k)
{
    struct rows edges = edges_of(a->adj.row, i);
    real base = AT(a->dsum, i, k) + AT(a->dmean, i, k) / R(edges.end - edges.first), largest = R(0);
    for (int64_t e = edges.first; e < edges.end; e++)
        largest += r_match(AT(a->b, edge_end(a->adj.col, e), k), AT(a->top, i, k), R(1));
    real share = AT(a->dmax, i, k) / largest;
    for (int64_t e = edges.first; e < edges.end; e++) {
        int64_t j = edge_end(a->adj.col, e);
        if (rows_has(wanted, j))
            AT(a->db, j, k) += base + r_match(AT(a->b, j, k), AT(a->top, i, k), share);
    }
}

/* Column k of da in row i. */
static void add_all(const struct pna_pool_backward_args *a, int64_t i, int64_t k)
{
    struct rows edges = edges_of(a->adj.row, i);
    int64_t n = edges.end - edges.first;
    real all = R(n) * AT(a->dsum, i, k) + AT(a->dmean, i, k) + AT(a->dmax, i, k);
    put(a->da, i, k, n > 0 ? all : R(0));
}

REF(pna_pool_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->da), wanted = rows_wanted(a->call, a->db);
    begin_sums(a->call, a->db);
    for (int64_t i = 0; i < a->top.rows && rows_any(wanted); i++)
        for (int64_t k = 0; k < a->top.cols; k++)
            share_out(a, wanted, i, k);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->top.cols; k++)
            add_all(a, i, k);
}
