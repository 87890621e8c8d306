/*
 * Encoders: learned embeddings of node encodings (models/encodings/encoding.h), concatenated with the
 * embedded features.
 *
 *     rwse    Linear(K, p)(BatchNorm(K)(values)); heat: the same
 *     lap     the sum over a node's pairs (v, lambda) of ReLU(Linear(2p, p)(ReLU(Linear(2, 2p)(v, lambda)))):
 *             DeepSets (Zaheer et al. 2017), as Rampasek et al. 2022 encode eigenvectors
 *
 *     eslap   Linear(K, D)(values), whose distances weight the messages of edges (layers.h); absent pairs are
 * 0
 *
 * Pairs that a graph does not have are omitted from the sum rather than encoded as zeros, because the layers
 * have biases.
 */
#ifndef GTMARK_MODELS_ENCODER_H
#define GTMARK_MODELS_ENCODER_H

#include "models/encodings/encoding.h"
#include "models/layers/layers.h"

/*
 * Records the encoder and its inputs in a span `name`; it writes to y, N x p. The encoding may be null if the
 * tape is never laid out; its rows are contiguous, and it must live as long as the batch.
 */
void encoder(struct tape *t, const char *name, struct mat y, const struct encoding_config *c,
             const struct batch *b, const struct encoding *encoding);

/* The encoder of eslap: N x width. */
struct mat gate_encoder(struct tape *t, const char *name, int64_t width, const struct encoding_config *c,
                        const struct batch *b, const struct encoding *encoding);

#endif
