/*
 * Grids, filled in the order of the node numbers; the last row, and in three dimensions the last layer, may
 * be incomplete. Parameters and degree are ignored, and nothing is random.
 */
#ifndef GTMARK_GRAPHS_GRID_H
#define GTMARK_GRAPHS_GRID_H

#include "graphs/spec.h"

/* Two dimensions, in rows of ceil(sqrt(nodes)): up to 4 neighbours. The number of directed edges. */
int64_t grid_edges(const struct graph_spec *g);

/* As er_draw. */
bool grid_draw(uint64_t *edge, const struct graph_spec *g);

/* Three dimensions, in layers of c rows of c nodes, c = ceil(cbrt(nodes)): up to 6 neighbours. */
int64_t grid3d_edges(const struct graph_spec *g);

bool grid3d_draw(uint64_t *edge, const struct graph_spec *g);

#endif
