/*
 * R-MAT, the recursive matrix model (Chakrabarti, Zhan and Faloutsos, SDM 2004), with the probabilities of
 * Graph500: .57, .19, .19, .05. Degrees are heavy-tailed, with hubs among the nodes of any number. Edges are
 * drawn independently, so that the graph is a multigraph: a pair that is drawn again is an edge again. There
 * are no self-loops.
 */
#ifndef GTMARK_GRAPHS_RMAT_H
#define GTMARK_GRAPHS_RMAT_H

#include <stdbool.h>
#include <stdint.h>

/* Directed edges: 2 floor(nodes degree / 2 + 1/2) at any degree, and none of a single node. */
int64_t rmat_edges(int64_t nodes, double degree);

/* The contract of er_draw. */
bool rmat_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key);

#endif
