/*
 * A batch divided by its nodes: each of several ranks has consecutive ones, about equally many, with the
 * edges to them. The other ends of these edges on other ranks are its halo nodes.
 */
#ifndef GTMARK_GRAPHS_HALO_H
#define GTMARK_GRAPHS_HALO_H

#include <stddef.h>

#include "graphs/batch.h"

/* The first of a batch's nodes that rank p has; all for p = c->ranks. */
int64_t halo_first(const struct graph_config *c, int64_t nodes, int p);

/*
 * Makes b, with the graphs and offsets of a batch of so many nodes, a part with everything but its edges and
 * halo nodes (batch_divide). `before`: the edges to nodes of ranks before. False without memory.
 */
bool batch_bound(struct batch *b, const struct graph_config *c, int64_t nodes, int64_t before);

/*
 * Keeps of a batch with arrays the part of rank c->rank (struct halo), and says so in b->part; b->graphs
 * remains, and offset then bounds the own nodes of each graph, perhaps none. A rank without nodes has a
 * placeholder, one node without edges, in the last graph. b comes before batch_number_edges. Errors as of
 * batch_generate.
 */
bool batch_divide(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

/*
 * The same for a batch of so many nodes whose adj has only the rows of this rank, at least one, and out the
 * receivers of its nodes; both with nodes by their numbers in the batch, and in the same arrays if symmetric.
 * `before`: the edges to nodes of ranks before.
 */
bool batch_number_halo(struct batch *b, const struct graph_config *c, int64_t nodes, int64_t before,
                       char *error, size_t error_size);

#endif
