/*
 * The small world of Watts and Strogatz (Nature 1998): a ring lattice, each edge of which is rewired with
 * probability beta: a node is joined to those ahead of it, near ones first, and a rewired edge goes from the
 * same node to a distant one. The graph is simple. Triangles are nearly as frequent as in the lattice, and
 * paths nearly as short as in a random graph.
 */
#ifndef GTMARK_GRAPHS_WS_H
#define GTMARK_GRAPHS_WS_H

#include "graphs/spec.h"

enum { WS_BETA }; /* parameter: from 0 to 1 */

/* The number of directed edges, as in er. */
int64_t ws_edges(const struct graph_spec *g);

/* As er_draw. */
bool ws_draw(uint64_t *edge, const struct graph_spec *g);

#endif
