/*
 * Random regular graphs: simple, and all nodes have the same degree, the requested one, rounded; one less if
 * that and the number of nodes are odd, since a graph has an even number of ends.
 */
#ifndef GTMARK_GRAPHS_REGULAR_H
#define GTMARK_GRAPHS_REGULAR_H

#include "graphs/spec.h"

/* The number of directed edges: nodes times degree. */
int64_t regular_edges(const struct graph_spec *g);

/* As er_draw. Time grows with nodes degree + degree^3. */
bool regular_draw(uint64_t *edge, const struct graph_spec *g);

/* Bytes that regular_draw needs beside the edges. */
int64_t regular_scratch(const struct graph_spec *g);

#endif
