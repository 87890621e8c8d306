/*
 * The uniform random graph G(n, m) of Erdos and Renyi: every simple undirected graph of n nodes and m edges
 * is equally likely. The canonical workload of the suite.
 */
#ifndef GTMARK_GRAPHS_ER_H
#define GTMARK_GRAPHS_ER_H

#include "graphs/spec.h"

/* The number of directed edges: 2m, m = floor(nodes degree / 2 + 1/2), at most that of the complete graph. */
int64_t er_edges(const struct graph_spec *g);

/*
 * Draws the graph, each edge in both directions: fills edge[0 .. er_edges(g)) with packed edges (csr_edge),
 * the same for any number of threads. False if cancelled, or without memory, which only some families need.
 */
bool er_draw(uint64_t *edge, const struct graph_spec *g);

#endif
