/* Undirected edges as pairs of nodes: how many there are, their numbers, and drawing one at a time. */
#ifndef GTMARK_GRAPHS_PAIRS_H
#define GTMARK_GRAPHS_PAIRS_H

#include "graphs/spec.h"

struct node_pair {
    int64_t low, high;
};

/* The number of pairs of different nodes, n (n - 1) / 2. */
int64_t pairs_of(int64_t nodes);

/* The pair at `index`, below 2^61, of all pairs ordered by high, then low: (0,1), (0,2), (1,2), ... */
struct node_pair node_pair_at(uint64_t index);

/* The edges of a simple graph of the requested degree: floor(nodes degree / 2 + 1/2), at most all pairs. */
int64_t pairs_asked(const struct graph_spec *g);

/*
 * Fills `edge` with packed edges (csr_edge): both directions of the pairs at(graph, k), k < pairs and in the
 * range that is asked for, of nodes counted from g->first. `at` runs in several threads. False if cancelled.
 */
bool pairs_draw(uint64_t *edge, const struct graph_spec *g, int64_t pairs,
                struct node_pair (*at)(const void *graph, int64_t k), const void *graph);

/* Writes both directions of the edge between two nodes; returns what follows them. */
uint64_t *pair_write(uint64_t *edge, int64_t a, int64_t b);

#endif
