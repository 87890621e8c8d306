/*
 * Model configuration. Every model of the suite is a stack of GPS layers (Rampasek et al., "Recipe for a
 * general, powerful, scalable graph transformer", 2022) with some parts omitted.
 */
#ifndef GTMARK_MODELS_CONFIG_H
#define GTMARK_MODELS_CONFIG_H

#include "models/encodings/encoding.h"

/* Number of node features, of edge features, of targets per graph, and of node labels. */
enum { FEATURES = 16, EDGE_FEATURES = 4, TARGETS = 1, CLASSES = 16 };

/* The dtype of parameters and features, and hence of everything that models compute. */
#define MODEL_DTYPE F32

/* `unfused` is dense attention that stores its scores, as an eager framework runs it. */
enum attention_kind { ATTENTION_NONE, ATTENTION_DENSE, ATTENTION_SPARSE, ATTENTION_UNFUSED, ATTENTION_KINDS };

enum mpnn_kind { MPNN_NONE, MPNN_GIN, MPNN_GCN, MPNN_GATV2, MPNN_PNA, MPNN_GINE, MPNN_GATEDGCN, MPNN_KINDS };

enum norm_kind { NORM_LAYER, NORM_BATCH, NORM_GRAPH, NORM_NONE, NORM_KINDS };

/* How the nodes of a graph are reduced to one row. */
enum pool_kind { POOL_MEAN, POOL_SUM, POOL_MAX, POOL_KINDS };

/* `graph`: regression of a target per graph, mean squared error. `node`: a label per node, cross-entropy. */
enum task_kind { TASK_GRAPH, TASK_NODE, TASK_KINDS };

/* Null if there is no such kind. */
const char *attention_name(int kind);
const char *mpnn_name(int kind);
const char *norm_name(int kind);
const char *pool_name(int kind);
const char *task_name(int kind);

struct model_config {
    int64_t layers, hidden, heads, ffn; /* ffn: width of the hidden layer of the feed-forward network */
    enum activation act;
    enum attention_kind attention;
    enum mpnn_kind mpnn;
    enum norm_kind norm;
    enum pool_kind pool;
    enum task_kind task;
    double dropout;            /* probability, in training; 0: none */
    double attention_dropout;  /* the same, of attention probabilities */
    struct encoding_config pe; /* of the nodes; fills pe.width columns of the layers' input */
    const char *checkpoint;    /* as checkpoint_segments takes it */
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

/* Whether the model uses the edges of its graphs. */
bool model_uses_edges(const struct model_config *c);

/* Whether its edges have features and a state: an input "edge_features", and an edge encoder. */
bool model_has_edge_state(const struct model_config *c);

/* Whether its training needs the numbers of the edges (batch_number_edges). */
bool model_numbers_edges(const struct model_config *c);

/* The number of parameters by the closed formula; every recording must agree with it. */
int64_t model_parameters(const struct model_config *c);

#endif
