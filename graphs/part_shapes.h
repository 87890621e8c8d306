/* The shapes of the parts that ranks have of a batch divided by its nodes, without making the parts. */
#ifndef GTMARK_GRAPHS_PART_SHAPES_H
#define GTMARK_GRAPHS_PART_SHAPES_H

#include <stddef.h>

#include "graphs/batch.h"

/*
 * Sets part[r], of c->ranks, to what batch_divide makes of rank r, but without arrays of edges and of what is
 * sent. Edges between ranks are counted as they are drawn: graphs whose nodes are all of one rank are not
 * drawn, and no graph is in memory but those of which draw_part has the whole, and giant components. `whole`:
 * the batch, if it was made already, or null. The caller frees the parts, also after an error; these are as
 * of batch_generate, with the peak in part[0].
 */
bool batch_shape_parts(struct batch *part, const struct graph_config *c, const struct batch *whole,
                       char *error, size_t error_size);

#endif
