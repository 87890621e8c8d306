/*
 * Heads: from the rows of pooled graphs, or of nodes, to the outputs.
 *
 *     linear     Linear(d, o)
 *     halving    Linear(d, d/2), act, Linear(d/2, d/4), act, Linear(d/4, o): the SAN head of Rampasek et al.,
 *                "Recipe for a general, powerful, scalable graph transformer", 2022
 *     mlp        depth - 1 times Linear(d, d), act, rows of length one; then Linear(d, o): GraphGym (You,
 * Ying and Leskovec, "Design space for graph neural networks", 2020)
 *
 * For pairs of nodes (task `edge`) the outputs of the head are d per node, and that of a pair is their scalar
 * product.
 */
#ifndef GTMARK_MODELS_HEAD_H
#define GTMARK_MODELS_HEAD_H

#include "models/layers/layers.h"

/*
 * Records the head in the span "head": a row of outputs for each row of x, or for each pair of nodes, which
 * it declares as the input "pairs" (I64, two nodes each): as many as nodes, drawn uniformly within each
 * graph.
 */
struct mat head(struct tape *t, struct mat x, const struct model_config *c, const struct batch *b);

#endif
