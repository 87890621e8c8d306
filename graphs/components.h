/*
 * Connected components, and the largest of each graph of a batch.
 */
#ifndef GTMARK_GRAPHS_COMPONENTS_H
#define GTMARK_GRAPHS_COMPONENTS_H

#include <stddef.h>

#include "graphs/batch.h"

/*
 * The components of a graph of n nodes, numbered by their smallest node; returns how many. `out` is the
 * transpose, which makes them weakly connected; null if the graph is symmetric.
 * Component c is node[start[c]] .. node[start[c + 1] - 1], breadth first from its smallest node. start has
 * room for n + 1 numbers, node and seen for n.
 */
int64_t components_find(const struct csr *g, const struct csr *out, int64_t *start, int32_t *node,
                        bool *seen);

/* Appends the unseen neighbours of a node to the queue, marks them, and returns the new length. */
int64_t components_visit(const struct csr *g, int64_t node, int32_t *queue, int64_t length, bool *seen);

/*
 * Reduces each graph of a symmetric batch to its largest component (of several the one with the smallest
 * node); the nodes keep their order. False with a line in error without memory, in which case b is unchanged.
 */
bool batch_keep_giant_components(struct batch *b, char *error, size_t error_size);

/* Bytes that this takes beside the graph. */
int64_t components_bytes(int64_t nodes);

#endif
