/*
 * Layers: functions that record ops on a tape. Each enters a span of its name, which prefixes its parameters,
 * costs and profile rows. Shapes are rows x width; the nodes of a batch are concatenated along the rows.
 */
#ifndef GTMARK_MODELS_LAYERS_H
#define GTMARK_MODELS_LAYERS_H

#include "graphs/graph.h"
#include "models/layers/config.h"
#include "models/parallel/parallel.h"
#include "models/tape/tape.h"

/*
 * What the attention of Exphormer is over: the edges of the graph, of an expander and of V global nodes of
 * each graph, whose rows follow those of the N nodes. Of their features, `edge` has a row for each edge of
 * the graph, which message passing does not replace, `others` those of the expander's edges, of those to each
 * global node, and of those from each, and `factor` names that of each edge. Without --expander the edges are
 * those of the graph alone, and others, factor and globals are absent.
 */
struct expanded {
    struct edges adj;
    struct mat edge, others, factor;
    struct mat globals; /* the state of the global nodes, V B x D: node v of all graphs after v - 1 */
};

/*
 * The inputs of a batch on a tape. adj is absent if the model does not use edges. mask and share, N x 1, are
 * those of a padded batch: mask is 1 in the rows of nodes and 0 in the others; share is mask / nodes of the
 * graph. On a rank that has a part of the nodes they are those of its own. `place`, N x D, is the encoding by
 * whose distances messages are weighted; absent without. `edge` is the state of the edges, E x D, which
 * message passing reads and may replace: absent if the model has none, or without edges. edge_ends: no later
 * layer reads it.
 */
struct structure {
    struct offsets graphs;
    struct expanded expanded; /* of exphormer alone */
    struct mat mask, share;
    struct peers peers;
    struct edges adj;
    struct mat place;
    struct mat bias; /* of dense attention, pairs x heads, of all layers; absent without */
    struct mat gcn;  /* the weights of gcn_weights; absent without GCN */
    struct mat edge;
    bool edge_ends;
};

/*
 * Declares the batch as inputs: "graphs" and, if requested, "adjacency.row" and "adjacency.col"; for training
 * on a graph that is not symmetric also its transpose, "adjacency.out_row" and "adjacency.out_col".
 * `numbered`: for training also "adjacency.out_edge", which a batch with arrays must have. It must live until
 * tape_init.
 */
struct structure tape_structure(struct tape *t, const struct batch *b, bool edges, bool numbered);

/* The edges alone, as the inputs "NAME.row" and so on. */
struct edges input_edges(struct tape *t, const char *name, const struct batch *b, bool numbered);

/* act(x weight' + bias): N x D -> N x width. */
struct mat linear(struct tape *t, const char *name, struct mat x, int64_t width, enum activation act);

/* The same, written to y: N x width. */
void linear_to(struct tape *t, const char *name, struct mat y, struct mat x, enum activation act);

/* linear() of the state of all edges; absent, but with its parameters, if there are no edges. */
struct mat edge_linear(struct tape *t, const char *name, struct mat edge, int64_t width);

/* Declares the parameters of a linear layer that has no rows to process. */
void linear_unused(struct tape *t, const char *name, int64_t inputs, int64_t width);

/*
 * Dropout with probability p, in a span `name`: keeps an entry with probability 1 - p, divided by 1 - p. Each
 * step has a mask of its own, which depends on seed, span and step alone. Records nothing, and returns x, if
 * p is 0 or the tape does not train.
 */
struct mat dropout(struct tape *t, const char *name, struct mat x, double p);

/*
 * Two linear layers "up" and "down" with an activation in between, N x D -> N x hidden -> N x D. Dropout with
 * probability p, which must be 0 with MLP_FUSED, follows both. `ffn` has a span of its own.
 */
struct mat mlp(struct tape *t, enum mlp_kind kind, struct mat x, int64_t hidden, enum activation act,
               double p);
struct mat ffn(struct tape *t, const char *name, enum mlp_kind kind, struct mat x, int64_t hidden,
               enum activation act, double p);

/*
 * Multi-head self-attention: projections with bias to query, key and value, scale (D / heads)^-1/2, softmax,
 * output projection with bias (Vaswani et al., "Attention is all you need", 2017). Dense attention is over
 * all nodes of the same graph; sparse attention over a node's senders, and zero for a node without any
 * (Dwivedi and Bresson, "A generalization of transformer networks to graphs", 2021). `drop` is the
 * probability of dropout of the attention's probabilities.
 *
 * Linear attention (Choromanski et al., "Rethinking attention with Performers", 2021), as GPS models use it:
 * projections without bias from D to 64 columns for each head, output projection with bias. Features of the
 * softmax with eps 1e-4 (performer-pytorch), or rectified ones with eps 1e-3 (PyTorch Geometric), of a random
 * projection, which is an input of the layer: kernels/ref/performer.c. There `drop` is that of the output.
 */
struct mat attention(struct tape *t, const char *name, enum attention_kind kind, struct mat x,
                     const struct structure *s, int heads, double drop);

/*
 * Attention over s->expanded (Shirzad et al., "Exphormer: sparse transformers for graphs", 2023), for each
 * head of C columns, with projections without bias, of the features of edges too, and none of the output:
 *
 *     s_e = sum q_i k_j c_e / sqrt(C), within +-5,  y_i = sum exp(s_e) v_j / (sum exp(s_e) + 1e-6)
 *
 * The rows of global nodes are the next layer's globals. expanded_edges declares the inputs and parameters,
 * in a span `name`; s->edge and s->adj are those of the graph.
 */
struct mat exphormer(struct tape *t, const char *name, struct mat x, struct structure *s, int heads);
struct expanded expanded_edges(struct tape *t, const char *name, const struct model_config *c,
                               const struct batch *b, const struct encoding *encoding,
                               const struct structure *s);

/*
 * Message passing, N x D -> N x D; sums are over the edges e from j to i, W are linear layers with bias.
 *
 * GIN with eps = 0 (Xu et al., "How powerful are graph neural networks?", 2019): W2 act(W1 (x_i + sum of
 * x_j)).
 *
 * GINE with eps = 0 (Hu et al., "Strategies for pre-training graph neural networks", 2020): the same with
 * x_i + sum of relu(x_j + e).
 *
 * GatedGCN (Bresson and Laurent, "Residual gated graph ConvNets", 2017; as in GraphGPS, gatedgcn_layer.py),
 * with residual connections and batch norms of its own:
 *
 *     h_e = D x_i + F x_j + C e,  s = sigmoid(h_e),  m_i = A x_i + sum of s B x_j / (sum of s + 1e-6)
 *     x'_i = x_i + dropout(act(BatchNorm(m_i))),  e' = e + dropout(act(BatchNorm(h_e)))
 *
 * "nodes" is A, B, D and F, stacked; e' replaces s->edge, unless that ends.
 *
 * With s->place z, messages of GINE and s of GatedGCN, in both sums, are multiplied by
 *
 *     sigmoid(W2 act(W1 |z_i - z_j|^2)),  W1 from 1 to D, W2 from D to 1, act of GINE relu
 *
 * which is ESLapPE (Wang et al., "Equivariant and stable positional encoding for more powerful graph neural
 * networks", 2022; as in GraphGPS, gine_conv_layer.py and gatedgcn_layer.py).
 */
struct mat gin(struct tape *t, const char *name, enum mlp_kind kind, struct mat x, const struct structure *s,
               enum activation act);
struct mat gine(struct tape *t, const char *name, enum mlp_kind kind, struct mat x, const struct structure *s,
                enum activation act);
struct mat gatedgcn(struct tape *t, const char *name, struct mat x, struct structure *s, enum activation act,
                    double p);

/*
 * W sum of x_j / sqrt(D_i D_j) + b over the edges from j to i and one loop, D: the number of these edges to a
 * node: GCN (Kipf and Welling, "Semi-supervised classification with graph convolutional networks", 2017).
 * Loops of the graph do not count, other parallel edges each do. s->gcn holds what depends on the edges
 * alone, N x 2.
 */
struct mat gcn_weights(struct tape *t, const char *name, const struct edges *adj);
struct mat gcn(struct tape *t, const char *name, struct mat x, const struct structure *s);

/*
 * b + sum of softmax(att . leaky_relu(Wr x_i + Wl x_j, 0.2)) Wl x_j, for each head, over the edges from j to
 * i and one loop instead of those of the graph: GATv2 (Brody, Alon and Yahav, "How attentive are graph
 * attention networks?", 2022). The rows of Wl and Wr are stacked; both have a bias. With `edges` the argument
 * of leaky_relu has We e as well, e: the state of the edge, without bias; that of the loop is the mean over
 * the edges to i from other nodes (GATv2Conv of PyTorch Geometric).
 */
struct mat gatv2(struct tape *t, const char *name, struct mat x, const struct structure *s, int heads,
                 bool edges);

/*
 * V (U [x_i, mean, max, sum] + b) + c, of the messages W [x_i, x_j] + a over the edges from j to i, which are
 * 0 for a node without any: PNA (Corso et al., "Principal neighbourhood aggregation for graph nets", 2020)
 * with the identity as scaler, one tower and no activation, as in GraphGPS. W and U are multiplied with
 * nodes, part by part, never with edges. With `edges` messages are W [x_i, x_j, V e] + a, V a linear layer of
 * the state of the edge.
 */
struct mat pna(struct tape *t, const char *name, struct mat x, const struct structure *s, bool edges);

/*
 * Norm(x + branch) with eps 1e-5: the residual connection in post-norm order; without a branch Norm(x).
 * Batch norm has a momentum of
 * 0.1, and uses its running statistics in programs that do not train.
 */
struct mat add_norm(struct tape *t, const char *name, enum norm_kind kind, struct mat x, struct mat branch,
                    const struct structure *s);

/* Batch norm alone: N x D. `unused` declares its parameters for nothing to normalise. */
struct mat batch_norm(struct tape *t, const char *name, struct mat x);
void batch_norm_unused(struct tape *t, const char *name, int64_t width);

/*
 * A GPS layer in the span `name`: message passing and attention in parallel, then a feed-forward network.
 * Either branch may be omitted; without attention there is no feed-forward network.
 */
struct mat gps_layer(struct tape *t, const char *name, struct mat x, struct structure *s,
                     const struct model_config *c);

/* One row per graph: N x D -> B x D. Of a padded batch, only the mean and the sum over nodes. */
struct mat pool_nodes(struct tape *t, const char *name, enum pool_kind kind, struct mat x,
                      const struct structure *s);

/* The same for all rows. */
struct mat pool(struct tape *t, const char *name, enum pool_kind kind, struct mat x,
                const struct offsets *graphs);

/* Rows of length one: x / |x|, zero for a row of zeros; N x D. The second writes them to y. */
struct mat l2_norm(struct tape *t, struct mat x);
void l2_norm_to(struct tape *t, struct mat y, struct mat x);

/*
 * Losses, 1 x 1: mean squared and mean absolute error (L1), whose gradient is 0 where y = target; the mean
 * cross-entropy of softmax(y) against labels, I64, N x 1; and that of the sigmoid of each entry of y against
 * labels 0 and 1, I64, N x M.
 */
struct mat mean_squared_error(struct tape *t, const char *name, struct mat y, struct mat target);
struct mat mean_absolute_error(struct tape *t, const char *name, struct mat y, struct mat target);
struct mat cross_entropy(struct tape *t, const char *name, struct mat y, struct mat label);
struct mat binary_cross_entropy(struct tape *t, const char *name, struct mat y, struct mat label);

#endif
