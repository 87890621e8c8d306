/*
 * Distances of all pairs of nodes (op hops), in up to `buckets` buckets, and one more for pairs without a
 * path. With `hops` also the first edges of a path of each pair from i to j, of the fewest edges: each node
 * on it comes after the smallest that can be before it, and of several edges from one to the other the first
 * is taken. An edge is its position in adj.col.
 */
#ifndef GTMARK_MODELS_DISTANCES_H
#define GTMARK_MODELS_DISTANCES_H

#include "models/encodings/encoding.h"

/* Adds them to an encoding of the batch, with their cost. False with a message, and the encoding as it was.
 */
bool distances_compute(const struct encoding_config *c, const struct batch *b,
                       const struct encoding_options *with, struct encoding *to, char *error,
                       size_t error_size);

#endif
