/*
 * Layers: functions that record ops on a tape. Each enters a span of its name, so that its parameters, costs
 * and profile rows are found under it. Shapes are rows x width; all nodes of a batch stand below one another.
 */
#ifndef GTMARK_MODELS_LAYERS_H
#define GTMARK_MODELS_LAYERS_H

#include "models/tape.h"

/* act(x weight' + bias): N x D -> N x width. */
struct mat linear(struct tape *t, const char *name, struct mat x, int64_t width, enum activation act);

/* Two linear layers with an activation between: N x D -> N x hidden -> N x width. */
struct mat mlp(struct tape *t, const char *name, struct mat x, int64_t hidden, int64_t width,
               enum activation act);

/*
 * Multi-head self-attention over the nodes of each graph: projections with bias to query, key and value,
 * scale (D / heads)^-1/2, softmax, output projection with bias (Vaswani et al., "Attention is all you need",
 * 2017).
 */
struct mat attention(struct tape *t, const char *name, struct mat x, const struct offsets *graphs, int heads);

/* LayerNorm(x + branch) with eps 1e-5: the residual connection in post-norm order. */
struct mat add_norm(struct tape *t, const char *name, struct mat x, struct mat branch);

/* The mean of each graph's rows: N x D -> B x D. */
struct mat mean_pool(struct tape *t, const char *name, struct mat x, const struct offsets *graphs);

/* Mean squared error, 1 x 1. */
struct mat mean_squared_error(struct tape *t, const char *name, struct mat y, struct mat target);

#endif
