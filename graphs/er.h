/*
 * The uniform random graph G(n, m) of Erdos and Renyi: every simple undirected graph of n nodes and m edges
 * is equally likely. The canonical workload of the suite.
 */
#ifndef GTMARK_GRAPHS_ER_H
#define GTMARK_GRAPHS_ER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cancel.h"

/*
 * The number of directed edges of a graph with this mean degree: 2m, m = floor(nodes degree / 2 + 1/2), at
 * most that of the complete graph. nodes is 1 to 2^31 - 1, degree at least 0.
 */
int64_t er_edges(int64_t nodes, double degree);

/*
 * Draws the graph of `key` on nodes first .. first + nodes - 1, each edge in both directions: fills edge[0 ..
 * er_edges(nodes, degree)) with packed edges (csr_edge), the same for any number of threads. False without
 * memory, which only some families need.
 */
bool er_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key, struct cancel cancel);

/* A pair of nodes, low < high. */
struct node_pair {
    int64_t low, high;
};

/* The pair at `index`, below 2^61, of all pairs ordered by high, then low: (0,1), (0,2), (1,2), ... */
struct node_pair node_pair_at(uint64_t index);

#endif
