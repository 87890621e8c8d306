/*
 * Preferential attachment (Barabasi and Albert, Science 1999): node after node joins the graph with
 * degree / 2 edges to nodes before it, each chosen with probability proportional to its degree so far. The
 * tail of the degrees is a power law of exponent 3. The graph is simple.
 */
#ifndef GTMARK_GRAPHS_BA_H
#define GTMARK_GRAPHS_BA_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes a node that ba_draw needs beside the edges. */
enum { BA_NODE_BYTES = 4 };

/*
 * Directed edges: node i joins with floor((i + 1) degree / 2) - floor(i degree / 2) edges, at most one to
 * each of the i nodes before it, so that any mean degree is met but for what the first nodes lack.
 */
int64_t ba_edges(int64_t nodes, double degree);

/* The contract of er_draw; works on one thread, since each choice depends on those before. */
bool ba_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key);

#endif
