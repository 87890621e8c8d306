/* Computing an encoding of whatever kind. */
#ifndef GTMARK_MODELS_COMPUTE_H
#define GTMARK_MODELS_COMPUTE_H

#include "models/encodings/encoding.h"

/*
 * Computes the encoding of a whole batch on the host. Returns false, with a message in error and nothing to
 * free, when out of memory, when the graph has no such encoding, or when cancelled. A solver that does not
 * converge is not a failure: see `excess`. Cancellation is checked between ops, between ARPACK's iterations,
 * and between components solved by LAPACK.
 */
bool encoding_compute(const struct encoding_config *c, const struct batch *b,
                      const struct encoding_options *with, struct encoding *out, char *error,
                      size_t error_size);

#endif
