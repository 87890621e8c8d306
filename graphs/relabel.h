/* Batches with other node numbers. */
#ifndef GTMARK_GRAPHS_RELABEL_H
#define GTMARK_GRAPHS_RELABEL_H

#include "graphs/batch.h"

/*
 * Node list[i] becomes node i; `list` is a permutation in which nodes stay in their graph. Edges, and
 * features and labels of b->inputs, move with their nodes; parallel edges keep their order. False without
 * memory or cancelled, after which b may only be freed.
 */
bool batch_relabel(struct batch *b, const int32_t *list, struct cancel cancel);

/* Peak bytes of that, beside those of b and list. */
int64_t relabel_bytes(const struct batch *b);

#endif
