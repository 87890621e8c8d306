/*
 * Orders of nodes: the same graphs with other node numbers. Each graph of a batch is numbered by itself.
 *
 *     degree  by descending degree
 *     bfs     breadth first, each component from a pseudo-peripheral node
 *     rcm     likewise, but the neighbours of a node by ascending degree, and the whole reversed
 *
 * The degree counts edges in both directions, ties go by number, and components by their node of least
 * degree. Pseudo-peripheral nodes are those of George and Liu, "An implementation of a pseudoperipheral node
 * finder", ACM Trans. Math. Softw. 5, 1979; rcm is the reverse Cuthill-McKee order of the same authors'
 * Computer Solution of Large Sparse Positive Definite Systems, 1981, chapter 4.
 */
#ifndef GTMARK_GRAPHS_ORDER_H
#define GTMARK_GRAPHS_ORDER_H

#include <stddef.h>

#include "graphs/batch.h"

enum order { ORDER_NONE, ORDER_DEGREE, ORDER_BFS, ORDER_RCM, ORDERS };

/* "none"; null if there is no such order. */
const char *order_name(int order);

/*
 * Numbers the nodes of b in this order, and moves the edges and the values of b->inputs with them; the rows
 * of a padded batch without a node stay. b comes before batch_number_edges; if it has no arrays
 * (batch_shape), only b->peak changes. Linear but for the sorting of neighbours, the same for any number of
 * threads. Errors as of batch_number_edges, also if cancelled.
 */
bool batch_order(struct batch *b, enum order order, const struct graph_config *c, char *error,
                 size_t error_size);

/* The largest difference between the numbers of an edge's ends. */
int64_t csr_bandwidth(const struct csr *g);

#endif
