/*
 * The two-dimensional grid: nodes row by row in rows of ceil(sqrt(nodes)) columns, the last row as far as
 * they reach; each is joined to those left, right, above and below.
 */
#ifndef GTMARK_GRAPHS_GRID_H
#define GTMARK_GRAPHS_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* Directed edges; the degree asked for is ignored. */
int64_t grid_edges(int64_t nodes, double degree);

/* The contract of er_draw; the key is ignored. */
bool grid_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key);

#endif
