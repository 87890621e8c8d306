/*
 * Graphormer (Ying et al., "Do Transformers really perform badly for graph representation?", 2021; main of
 * github.com/microsoft/Graphormer with --pre-layernorm), and what other models may have of it as well: the
 * bias of attention, the tables of degrees (features.h), the token.
 *
 *     x = x + dropout(attention(Norm(x), bias));  y = x + dropout(FFN(Norm(x)));  after the last Norm
 *
 * The bias of a pair of nodes, from i to j, is a row of a table, with a column for each head, of their
 * distance in buckets (models/encodings/distances.h); with hops also, over the first edges e of their path,
 *
 *     sum of W_hop' mean(rows of the types of e) / max(edges, 1)
 *
 * and of a pair with a token that of one more bucket.
 */
#ifndef GTMARK_MODELS_GRAPHORMER_H
#define GTMARK_MODELS_GRAPHORMER_H

#include "models/encodings/encoding.h"
#include "models/layers/layers.h"

/* A layer, in the span `name`. */
struct mat graphormer_layer(struct tape *t, const char *name, struct mat x, struct structure *s,
                            const struct model_config *c);

/* The bias of c->pe, a row for each pair, if the model has a token also those with it: for s->bias. */
struct mat attention_bias(struct tape *t, const char *name, const struct model_config *c,
                          const struct batch *b, const struct encoding *encoding);

/* The batch with a token before the nodes of each graph, which is a row like theirs: for tape_structure. */
struct batch token_batch(struct tape *t, const struct batch *b);

/* The rows of the nodes with those of the tokens, and of these the rows of the tokens alone. */
struct mat add_tokens(struct tape *t, const char *name, struct mat x, const struct batch *b);
struct mat token_rows(struct tape *t, const char *name, struct mat x, const struct batch *b);

#endif
