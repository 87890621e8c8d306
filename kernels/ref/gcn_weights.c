/*
 * The weights of the sum over neighbours (spmm.c) in GCN (Kipf and Welling, "Semi-supervised classification
 * with graph convolutional networks", 2017): S x with S = D^-1/2 (A + I) D^-1/2. Each node has one loop,
 * however many the graph has; other parallel edges all count. D is the number of edges to a node, with its
 * loop.
 *
 *   s_i = D_i^-1/2    u_i = (1 - loops of i) s_i, so that sums over all edges need not leave out the loops
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
