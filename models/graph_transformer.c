/*
 * Graph Transformer with dense attention: the attention branch and the feed-forward network of a GPS layer,
 * without message passing (Rampasek et al., "Recipe for a general, powerful, scalable graph transformer",
 * 2022).
 *
 *     x = features W' + b
 *     h = LayerNorm(x + attention(x)),  x = LayerNorm(h + FFN(h))      for each layer
 *     y = mean over each graph of x, times W' + b
 */
#include "models/layers.h"
#include "models/model.h"

#include <stdio.h>

static struct mat layer(struct tape *t, int64_t index, struct mat x, const struct offsets *graphs,
                        const struct model_config *c)
{
    char name[32];
    snprintf(name, sizeof name, "layer%lld", (long long)index);
    span_enter(t, name);
    struct mat a = attention(t, "attention", x, graphs, (int)c->heads);
    struct mat h = add_norm(t, "norm_attention", x, a);
    struct mat y = add_norm(t, "norm_out", h, mlp(t, "ffn", h, c->ffn, c->hidden, c->act));
    span_leave(t);
    return y;
}

static struct mat record(struct tape *t, const struct model_config *c, struct mat features,
                         const struct offsets *graphs)
{
    struct mat x = linear(t, "input", features, c->hidden, ACT_NONE);
    for (int64_t l = 1; l <= c->layers; l++)
        x = layer(t, l, x, graphs, c);
    return linear(t, "head", mean_pool(t, "pool", x, graphs), TARGETS, ACT_NONE);
}

static int64_t parameters(const struct model_config *c)
{
    int64_t d = c->hidden, f = c->ffn;
    int64_t attention = 4 * (d * d + d), ffn = (f * d + f) + (d * f + d), norms = 2 * 2 * d;
    return (FEATURES * d + d) + c->layers * (attention + ffn + norms) + (d * TARGETS + TARGETS);
}

const struct model graph_transformer = {
    .name = "graph_transformer",
    .doc = "dense attention and feed-forward network in each layer, post-norm",
    .record = record,
    .parameters = parameters,
};
