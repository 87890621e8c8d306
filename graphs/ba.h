/*
 * Preferential attachment (Barabasi and Albert, Science 1999): each new node joins the graph with degree / 2
 * edges to earlier nodes, chosen with probability proportional to their degrees so far. The tail of the
 * degree distribution is a power law with exponent 3. The graph is simple.
 */
#ifndef GTMARK_GRAPHS_BA_H
#define GTMARK_GRAPHS_BA_H

#include "graphs/spec.h"

/*
 * The number of directed edges: node i joins with floor((i + 1) degree / 2) - floor(i degree / 2) edges, at
 * most one to each of the i nodes before it. Any mean degree is met, except for what the first nodes cannot
 * have.
 */
int64_t ba_edges(const struct graph_spec *g);

/* As er_draw; single-threaded, since each choice depends on those before. */
bool ba_draw(uint64_t *edge, const struct graph_spec *g);

/* Bytes that ba_draw needs beside the edges. */
int64_t ba_scratch(const struct graph_spec *g);

#endif
