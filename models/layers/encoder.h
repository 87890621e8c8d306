/*
 * Encoders: what a model makes of an encoding of its nodes (models/encodings/encoding.h), beside their
 * features.
 *
 *     rwse    Linear(K, p)(BatchNorm(K)(values))
 *     lap     the sum over a node's pairs (v, lambda) of ReLU(Linear(2p, p)(ReLU(Linear(2, 2p)(v, lambda)))):
 *             DeepSets (Zaheer et al. 2017), as Rampasek et al. 2022 encode eigenvectors
 *
 * Pairs that a graph does not have are left out of the sum: they are not encoded as zeros, since the layers
 * have biases.
 */
#ifndef GTMARK_MODELS_ENCODER_H
#define GTMARK_MODELS_ENCODER_H

#include "models/encodings/encoding.h"
#include "models/layers/layers.h"

/*
 * Records the encoder in a span `name`, with its inputs: writes to y, N x p. The encoding may be null where
 * the tape is never laid out; its rows stand one after the other, and it must live as long as the batch.
 */
void encoder(struct tape *t, const char *name, struct mat y, const struct encoding_config *c,
             const struct batch *b, const struct encoding *encoding);

#endif
