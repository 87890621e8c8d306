/*
 * R-MAT, the recursive matrix model (Chakrabarti, Zhan and Faloutsos, SDM 2004), with the probabilities of
 * Graph500: .57, .19, .19, .05. Degrees are heavy-tailed, with hubs at arbitrary node numbers. Edges are
 * drawn independently, so the graph is a multigraph: a pair that is drawn twice is two edges. There are no
 * self-loops.
 */
#ifndef GTMARK_GRAPHS_RMAT_H
#define GTMARK_GRAPHS_RMAT_H

#include "graphs/spec.h"

/* The number of directed edges: 2 floor(nodes degree / 2 + 1/2) for any degree; 0 for a single node. */
int64_t rmat_edges(const struct graph_spec *g);

/* As er_draw. */
bool rmat_draw(uint64_t *edge, const struct graph_spec *g);

#endif
