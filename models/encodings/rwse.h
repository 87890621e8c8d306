/*
 * RWSE, the random walk structural encoding (Dwivedi et al., "Graph neural networks with learnable structural
 * and positional representations", 2022): for each node the probabilities of returning after 1 .. K steps of
 * a walk along the edges, (P^k)_ii with P = D^-1 A, where D counts outgoing edges. Parallel edges all count.
 * A node without outgoing edges has zeros.
 */
#ifndef GTMARK_MODELS_RWSE_H
#define GTMARK_MODELS_RWSE_H

#include "models/encodings/encoding.h"

/*
 * Computes c, of kind ENCODING_RWSE, for the batch: by half powers if the batch is symmetric, else by full
 * powers. Gives the same bits for any number of threads. When out of memory or cancelled: returns false, with
 * a message in error and an empty `out`.
 */
bool rwse_compute(const struct encoding_config *c, const struct batch *b, const struct encoding_options *with,
                  struct encoding *out, char *error, size_t error_size);

#endif
