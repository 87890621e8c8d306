/*
 * Model configuration. Every model of the suite is a stack of GPS layers (Rampasek et al., "Recipe for a
 * general, powerful, scalable graph transformer", 2022) with some parts omitted.
 */
#ifndef GTMARK_MODELS_CONFIG_H
#define GTMARK_MODELS_CONFIG_H

#include "models/encodings/encoding.h"

struct model;

/* Number of node features, of edge features, of targets per graph, and of node labels. */
enum { FEATURES = 16, EDGE_FEATURES = 4, TARGETS = 1, CLASSES = 16 };

/*
 * What parameters and features are, and hence all that models compute: F32; the same with products of factors
 * of 11 bits; BF16, with parameters in F32 in training (models/tape/tape.h).
 */
enum precision { PRECISION_F32, PRECISION_TF32, PRECISION_BF16, PRECISIONS };
enum dtype precision_dtype(enum precision p);
int precision_bits(enum precision p); /* of factors, if fewer than of the dtype; else 0 */

/*
 * `unfused` is dense attention that stores its scores, as an eager framework runs it. `performer` is linear
 * in the nodes: random features that approximate the softmax, or in `performer-relu` a rectifier. `exphormer`
 * is sparse attention over more edges, with features of the edges in its scores.
 */
enum attention_kind {
    ATTENTION_NONE,
    ATTENTION_DENSE,
    ATTENTION_SPARSE,
    ATTENTION_UNFUSED,
    ATTENTION_PERFORMER,
    ATTENTION_PERFORMER_RELU,
    ATTENTION_EXPHORMER,
    ATTENTION_KINDS
};

/* Whether it is linear attention, whose heads have PERFORMER_WIDTH columns whatever the width of the layer.
 */
bool attention_is_linear(enum attention_kind kind);

/* Columns of a head, and its features: the integer part of 64 ln 64. */
enum { PERFORMER_WIDTH = 64, PERFORMER_FEATURES = 266 };

/* GATv2 and PNA exist without and with edge features. */
enum mpnn_kind {
    MPNN_NONE,
    MPNN_GIN,
    MPNN_GCN,
    MPNN_GATV2,
    MPNN_PNA,
    MPNN_GINE, /* from here on edges have a state */
    MPNN_GATEDGCN,
    MPNN_GATV2_EDGE,
    MPNN_PNA_EDGE,
    MPNN_KINDS
};

/*
 * How the feed-forward network, and the network of GIN and GINE, run: as two ops that keep the hidden panel,
 * or as one that does not, and computes it once more in the backward pass.
 */
enum mlp_kind { MLP_UNFUSED, MLP_FUSED, MLP_KINDS };

enum norm_kind { NORM_LAYER, NORM_BATCH, NORM_GRAPH, NORM_NONE, NORM_KINDS };

/* How the nodes of a graph are reduced to one row; or the row of a token, which is one more of them. */
enum pool_kind { POOL_MEAN, POOL_SUM, POOL_MAX, POOL_TOKEN, POOL_KINDS };

/* The layers of a stack: gps.c, graphormer.c. */
enum layer_kind { LAYER_GPS, LAYER_GRAPHORMER };

/*
 * What is predicted, and the loss: `graph`: a target per graph, mean squared error. `node`: a label per node,
 * cross-entropy. `edge`: whether pairs of nodes of a graph are linked, binary cross-entropy.
 */
enum task_kind { TASK_GRAPH, TASK_NODE, TASK_EDGE, TASK_KINDS };

/* The loss of the task, or another one: of numbers, of classes, or of a yes or no for each output. */
enum loss_kind { LOSS_OF_TASK, LOSS_SQUARES, LOSS_ABSOLUTE, LOSS_CROSS_ENTROPY, LOSS_BINARY };

/*
 * What the raw features of nodes or edges are, and what embeds them: numbers, by a linear layer; or types, by
 * the sum of a row from each of several tables. A single table with a single row is the same for all.
 */
enum { TABLES_MAX = 9 };
struct feature_config {
    int64_t numbers;       /* columns; 0: as many as in the default model */
    bool normalised;       /* no bias, but batch norm, ReLU and rows of length one after the linear layer */
    int tables;            /* above 0: types */
    int types[TABLES_MAX]; /* rows of each table */
    int degrees;           /* of nodes: rows of two more tables, of in- and out-degrees; 0: without */
};

/* What makes the prediction from the rows of the nodes or of the pooled graphs: models/layers/head.h. */
enum head_kind { HEAD_LINEAR, HEAD_HALVING, HEAD_MLP };
struct head_config {
    enum head_kind kind;
    int depth;       /* linear layers of HEAD_MLP */
    int64_t outputs; /* of a graph or node; 0: TARGETS or CLASSES */
    enum loss_kind loss;
};

/* Null if there is no such kind. */
const char *attention_name(int kind);
const char *mpnn_name(int kind);
const char *mlp_name(int kind);
const char *norm_name(int kind);
const char *pool_name(int kind);
const char *task_name(int kind);
const char *loss_name(int kind);
const char *precision_name(int kind);

struct model_config {
    int64_t layers, hidden, heads, ffn; /* ffn: width of the hidden layer of the feed-forward network */
    enum precision precision;
    enum layer_kind layer;
    enum activation act;
    enum attention_kind attention;
    enum mpnn_kind mpnn;
    enum mlp_kind mlp;
    enum norm_kind norm;
    enum pool_kind pool;
    enum task_kind task;
    double dropout;            /* probability, in training; 0: none */
    double attention_dropout;  /* the same, of attention probabilities */
    struct encoding_config pe; /* of the nodes; fills pe.width columns of the layers' input */
    struct feature_config features, edge_features; /* of nodes; of edges, if the model reads them */
    int64_t hop_products; /* of the bias along paths; those beyond pe.hops are not read */
    struct head_config head;
    bool ring;               /* if ranks divide the nodes, keys and values of dense attention go around */
    const char *checkpoint;  /* as checkpoint_segments takes it */
    const struct model *own; /* of a plug-in (model.h); null: GPS layers */
};

/*
 * The number of segments into which the layers of a training step are divided, all but the last of which are
 * recomputed in the backward pass: none or null: 1; layer: one for each layer; or the number itself, 2 to
 * SEGMENTS_MAX. 0 if the text is none of these.
 */
enum { SEGMENTS_MAX = 1000 };
int64_t checkpoint_segments(const char *text, int64_t layers);

/* Why these options cannot be combined ("heads must divide hidden"), or null. */
const char *model_refuses(const struct model_config *c);

/* The number of columns of the layers' input that the encoder fills; 0 without an encoding. */
int64_t encoder_width(const struct model_config *c);

/* Whether an encoding weights the messages of edges (ESLapPE). */
bool model_has_gate(const struct model_config *c);

/* Outputs for each graph, node or pair of nodes, and the loss that compares them. */
int64_t model_outputs(const struct model_config *c);
enum loss_kind model_loss(const struct model_config *c);

/* Whether the model uses the edges of its graphs. */
bool model_uses_edges(const struct model_config *c);

/* Whether its edges have features, and mostly a state: an input "edge_features", and an edge encoder. */
bool model_has_edge_state(const struct model_config *c);

/* Whether graphs have a token. */
bool model_has_token(const struct model_config *c);

/* The features of edges: a bias along paths reads types, 4 unless the model or the graph has some. */
struct feature_config model_edge_features(const struct model_config *c);

/* Whether its training needs the numbers of the edges (batch_number_edges). */
bool model_numbers_edges(const struct model_config *c);

/* The rows of all tables. */
int64_t feature_types(const struct feature_config *c);

/*
 * The number of parameters by the closed formula; every recording must agree with it. Of it: those that embed
 * features in this width (standard: columns of numbers if c has none), and those of the head.
 */
int64_t model_parameters(const struct model_config *c);
int64_t feature_parameters(const struct feature_config *c, int64_t width, int64_t standard);
int64_t head_parameters(const struct model_config *c);

#endif
