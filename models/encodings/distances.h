/*
 * Distances of all pairs of nodes (op hops), in up to `buckets` buckets, and one more for pairs without a
 * path.
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
