/*
 * Stochastic blocks (Holland, Laskey and Leinhardt, Social Networks 1983): the nodes are divided into blocks,
 * and two nodes of the same block are joined more often than others. As G(n, m) is to G(n, p), the numbers of
 * edges are their means: a share p_in of all pairs within blocks and a share p_out of those between blocks,
 * rounded, every such simple graph equally likely. The degree is ignored.
 */
#ifndef GTMARK_GRAPHS_SBM_H
#define GTMARK_GRAPHS_SBM_H

#include "graphs/spec.h"

enum { SBM_BLOCKS, SBM_P_IN, SBM_P_OUT }; /* parameters: at least 1; from 0 to 1 */

/* The number of directed edges. */
int64_t sbm_edges(const struct graph_spec *g);

/* As er_draw. Blocks are consecutive nodes; their sizes differ by one node at most. */
bool sbm_draw(uint64_t *edge, const struct graph_spec *g);

#endif
