/* The sizes of the largest components of the graphs of a batch, without a batch of their edges. */
#ifndef GTMARK_GRAPHS_GIANT_COMPONENT_H
#define GTMARK_GRAPHS_GIANT_COMPONENT_H

#include <stddef.h>

#include "graphs/batch.h"
#include "graphs/name.h"

/*
 * What draw_batch and batch_drop_arrays leave of a name with ":giant": each graph is drawn, in memory for one
 * graph a thread, or, of few graphs, for the largest. Errors as of batch_shape.
 */
bool giant_components_shape(struct batch *b, const struct graph_config *c, const struct graph_name *n,
                            char *error, size_t error_size);

#endif
