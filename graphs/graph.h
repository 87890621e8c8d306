/*
 * A batch of graphs: one block-diagonal adjacency, and which nodes belong to which graph.
 *
 * The batch is a function of the configuration alone: the same on every machine and for any number of
 * threads. Random streams (kernels/rng.h) are named: the sizes of a batch come from "graph.sizes", and graph
 * g is drawn with the key at position g of "graph".
 */
#ifndef GTMARK_GRAPHS_GRAPH_H
#define GTMARK_GRAPHS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graphs/batch.h"
#include "graphs/degrees.h"
#include "graphs/name.h"

/*
 * Everything about the batch except its edges: all fields, with null for the arrays of adj and out. For one
 * graph of a family this takes no time, whatever its size; a file is read, and for giant components
 * the graphs are drawn one by one. With a bad configuration, more than CSR_MAX_EDGES edges, without memory,
 * beyond the limits or cancelled: false, a line in error, and nothing to free; beyond the limit of memory
 * b->peak is then what building needs, as far as is known, and above the limit.
 */
bool batch_shape(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

/* The whole batch. Errors as above. */
bool batch_generate(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

/*
 * Sets out_edge; for a batch without arrays (batch_shape) only the peak.
 * Errors as above, after which the batch is freed.
 */
bool batch_number_edges(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

#endif
