/* What each rank has of the batch of a configuration, whose `graph` says which rank this is, of how many. */
#ifndef GTMARK_BENCH_PARTS_H
#define GTMARK_BENCH_PARTS_H

#include "bench/cli/config.h"
#include "graphs/partition.h"

/* Whether ranks divide the nodes, not the graphs. */
bool parts_divided(const struct config *c);

/* The batch to make, or this rank's part of it; of nodes that are ordered and then divided, all. */
struct graph_config parts_graph(const struct config *c);

/*
 * Makes the batch of all ranks, which METIS divides, and drops it. Sets the seconds that METIS took, and the
 * peak bytes. False with a message.
 */
bool parts_partition(struct partition *p, const struct config *c, double *seconds, int64_t *peak,
                     struct message *error);

/* The shapes of the parts of all ranks, for the caller to free, also if not all could be made; then the peak
 * is in the first. */
struct batch *parts_shape(const struct config *c, bool *made, struct message *error);

#endif
