/*
 * A batch divided by its nodes: each of several ranks has consecutive ones, about equally many, with the
 * edges to them. The other ends of these edges on other ranks are its ghosts.
 */
#ifndef GTMARK_GRAPHS_HALO_H
#define GTMARK_GRAPHS_HALO_H

#include <stddef.h>

#include "graphs/batch.h"

/*
 * Keeps of a batch with arrays the part of one rank (struct halo), and says so in b->part; b->graphs remains,
 * and offset then bounds the own nodes of each graph, perhaps none. A rank without nodes has a placeholder,
 * one node without edges, in the last graph. b comes before batch_number_edges. Errors as of batch_generate.
 */
bool batch_divide(struct batch *b, int rank, int ranks, char *error, size_t error_size);

#endif
