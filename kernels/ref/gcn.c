/*
 * The sum over neighbours of GCN (Kipf and Welling, "Semi-supervised classification with graph convolutional
 * networks", 2017): S x with S = D^-1/2 (A + I) D^-1/2. Each node has one loop, however many the graph has;
 * other parallel edges all count. D is the number of edges to a node, with its loop.
 *
 *   s_i = D_i^-1/2    u_i = (1 - loops of i) s_i, so that sums over all edges need not leave out the loops
 *   y_i = s_i (u_i x_i + sum of s_j x_j over the edges j -> i)    dx_j = the same of dy over the edges i -> j
 */
#include "kernels/ref/loops.h"

REF(gcn_weights, 0)
{
    struct rows rows = rows_wanted(a->call, a->w);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct rows edges = edges_of(a->adj.row, i);
        int64_t loops = 0;
        for (int64_t e = edges.first; e < edges.end; e++)
            loops += edge_end(a->adj.col, e) == i;
        real s = R(1) / r_sqrt(R(1 + edges.end - edges.first - loops));
        AT(a->w, i, 0) = s;
        AT(a->w, i, 1) = R(1 - loops) * s;
    }
}

/* y_i (+)= s_i (u_i x_i + sum of s_j x_j over the edges of row i). */
static void aggregate(struct mat y, struct mat x, struct mat w, struct mat row, struct mat col, int64_t i)
{
    struct rows edges = edges_of(row, i);
    for (int64_t k = 0; k < y.cols; k++) {
        real sum = AT(w, i, 1) * AT(x, i, k);
        for (int64_t e = edges.first; e < edges.end; e++)
            sum += AT(w, edge_end(col, e), 0) * AT(x, edge_end(col, e), k);
        put(y, i, k, AT(w, i, 0) * sum);
    }
}

REF(gcn_sum, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        aggregate(a->y, a->x, a->w, a->adj.row, a->adj.col, i);
}

REF(gcn_sum_backward, 0)
{
    struct rows rows = rows_wanted(a->call, a->dx);
    for (int64_t j = rows.first; j < rows.end; j++)
        aggregate(a->dx, a->dy, a->w, a->adj.out_row, a->adj.out_col, j);
}
