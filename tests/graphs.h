/* Graphs for tests: generation, and properties to assert. */
#ifndef GTMARK_TESTS_GRAPHS_H
#define GTMARK_TESTS_GRAPHS_H

#include "graphs/edge_list.h"
#include "graphs/graph.h"

/* Generates a batch; fails the test on errors. */
struct batch graph_generated(const char *family, int64_t nodes, double degree, int64_t graphs, uint64_t seed);

/* graph_file_read, without limits. */
bool graph_list_read(struct edge_list *list, const char *path, bool undirected, char *error,
                     size_t error_size);

enum { GRAPH_SHOWN = 400 };

/*
 * Reads a graph file: the sizes of its graphs and its edges as "2+3: from>to from>to", in the order of the
 * file; or the error, one line, which must begin with the path, without it.
 */
const char *graph_shown(const char *path, bool undirected, char shown[GRAPH_SHOWN]);

bool graph_has_edge(const struct csr *g, int64_t from, int64_t to);

/* Valid, and every edge occurs as often as its reverse. */
void assert_undirected(const struct csr *g);

/* In addition without loops and parallel edges. */
void assert_simple(const struct csr *g);

/*
 * Checksum of sizes, rows and columns, over values rather than bytes, so that it is the same on every
 * machine.
 */
uint64_t graph_checksum(const struct batch *b);

#endif
