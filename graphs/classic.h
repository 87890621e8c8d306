/* Graphs that are known in closed form, and ignore the degree; nothing in them is random. */
#ifndef GTMARK_GRAPHS_CLASSIC_H
#define GTMARK_GRAPHS_CLASSIC_H

#include "graphs/spec.h"

enum { TREE_CHILDREN }; /* parameter: of a node, at least 1 */

/* The number of directed edges of any tree: 2 (n - 1). */
int64_t tree_edges(const struct graph_spec *g);

/* A tree filled level by level: node v is joined to its parent, (v - 1) / children. As er_draw, like all
 * here. */
bool tree_draw(uint64_t *edge, const struct graph_spec *g);

/* A tree: each node is joined to the next. */
bool path_draw(uint64_t *edge, const struct graph_spec *g);

/* A tree: node 0 is joined to all others. */
bool star_draw(uint64_t *edge, const struct graph_spec *g);

/* A path whose last node is joined to the first, from 3 nodes on. */
int64_t cycle_edges(const struct graph_spec *g);

bool cycle_draw(uint64_t *edge, const struct graph_spec *g);

/* All n (n - 1) / 2 pairs. */
int64_t complete_edges(const struct graph_spec *g);

bool complete_draw(uint64_t *edge, const struct graph_spec *g);

#endif
