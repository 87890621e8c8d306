/* Graphs for tests: drawing them, and properties that a test asserts. */
#ifndef GTMARK_TESTS_GRAPHS_H
#define GTMARK_TESTS_GRAPHS_H

#include "graphs/graph.h"

/* The batch of a configuration; without one the test fails. */
struct batch graph_drawn(const char *family, int64_t nodes, double degree, int64_t graphs, uint64_t seed);

bool graph_has_edge(const struct csr *g, int64_t from, int64_t to);

/* Valid, and with the reverse of every edge as often as the edge itself. */
void assert_undirected(const struct csr *g);

/* All that, and without loops and parallel edges. */
void assert_simple(const struct csr *g);

/* Of sizes, rows and columns: over the numbers, not their bytes, so that it is the same on every machine. */
uint64_t graph_checksum(const struct batch *b);

#endif
