/*
 * The two-dimensional grid: nodes in rows of ceil(sqrt(nodes)) columns, of which the last may be shorter;
 * each node is joined to those on its left and right, above and below.
 */
#ifndef GTMARK_GRAPHS_GRID_H
#define GTMARK_GRAPHS_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cancel.h"

/* The number of directed edges; the degree is ignored. */
int64_t grid_edges(int64_t nodes, double degree);

/* As er_draw; the key is ignored. */
bool grid_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key,
               struct cancel cancel);

#endif
