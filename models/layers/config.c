/*
 * Names of a model's options, and the closed formula for its number of parameters.
 *
 * Linear(m, n) has n m + n parameters and a norm 2 d. A layer has its message passing with a norm; the four
 * projections of attention with a norm, and then the feed-forward network with a norm of its own: 10 d^2 + 15
 * d for both with GIN and an inner width of 2 d. Message passing is GIN's two Linear(d, d); GCN's Linear(d,
 * d); Linear(d, 2 d) and two vectors of GATv2, with edge features d^2 more; Linear(2 d, d), Linear(4 d, d)
 * and Linear(d, d) of PNA, with edge features 2 d^2 + d more; as GIN for GINE; or Linear(d, 4 d), Linear(d,
 * d) and two norms of GatedGCN. Edges with a state have an encoder Linear(EDGE_FEATURES, d). Linear attention
 * with H heads has projections to and from i = 64 H columns, of which only the last has a bias: 4 d i + d.
 * With an encoding, the input layer is Linear(FEATURES, d - p), and the encoder fills the other p columns: a
 * norm of K columns and Linear(K, p) for RWSE and the heat kernel, Linear(2, 2 p) and Linear(2 p, p) for
 * LapPE. Exphormer has four projections without bias, 4 d^2, and with --expander R:V once a row of d for the
 * expander's edges and three for each global node. The gate of ESLapPE has Linear(K, d) once, and Linear(1,
 * d) and Linear(d, 1) in each layer. A bias has a row of H for each bucket, for pairs without a path and for
 * those with a token; along paths one for each type of edge, and H^2 for each hop. A token is a row, and
 * Graphormer ends with a norm.
 */
#include "models/layers/config.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"

static const char *name_at(const char *const *names, int kinds, int kind)
{
    return kind >= 0 && kind < kinds ? names[kind] : NULL;
}

const char *attention_name(int kind)
{
    static const char *const names[ATTENTION_KINDS] = {"none",      "dense",          "sparse",   "unfused",
                                                       "performer", "performer-relu", "exphormer"};
    return name_at(names, ATTENTION_KINDS, kind);
}

bool attention_is_linear(enum attention_kind kind)
{
    return kind == ATTENTION_PERFORMER || kind == ATTENTION_PERFORMER_RELU;
}

const char *mpnn_name(int kind)
{
    static const char *const names[MPNN_KINDS] = {"none", "gin",      "gcn",        "gatv2",   "pna",
                                                  "gine", "gatedgcn", "gatv2-edge", "pna-edge"};
    return name_at(names, MPNN_KINDS, kind);
}

const char *mlp_name(int kind)
{
    static const char *const names[MLP_KINDS] = {"unfused", "fused"};
    return name_at(names, MLP_KINDS, kind);
}

const char *precision_name(int kind)
{
    static const char *const names[PRECISIONS] = {"f32", "tf32", "bf16"};
    return name_at(names, PRECISIONS, kind);
}

enum dtype precision_dtype(enum precision p)
{
    return p == PRECISION_BF16 ? BF16 : F32;
}

int precision_bits(enum precision p)
{
    return p == PRECISION_TF32 ? 11 : 0;
}

const char *norm_name(int kind)
{
    static const char *const names[NORM_KINDS] = {"layer", "batch", "graph", "none"};
    return name_at(names, NORM_KINDS, kind);
}

const char *pool_name(int kind)
{
    static const char *const names[POOL_KINDS] = {"mean", "sum", "max", "token"};
    return name_at(names, POOL_KINDS, kind);
}

const char *task_name(int kind)
{
    static const char *const names[TASK_KINDS] = {"graph", "node", "edge"};
    return name_at(names, TASK_KINDS, kind);
}

const char *loss_name(int kind)
{
    static const char *const names[] = {[LOSS_SQUARES] = "mse",
                                        [LOSS_ABSOLUTE] = "mae",
                                        [LOSS_CROSS_ENTROPY] = "cross_entropy",
                                        [LOSS_BINARY] = "binary_cross_entropy"};
    return name_at(names, sizeof names / sizeof *names, kind);
}

int64_t checkpoint_segments(const char *text, int64_t layers)
{
    char *end;
    if (!text || strcmp(text, "none") == 0)
        return 1;
    if (strcmp(text, "layer") == 0)
        return layers;
    long k = strtol(text, &end, 10);
    return *text >= '1' && *text <= '9' && !*end && k >= 2 && k <= SEGMENTS_MAX ? k : 0;
}

const char *model_refuses(const struct model_config *c)
{
    if (!c->attention && !c->mpnn && !c->own)
        return "a layer needs attention or message passing";
    if (c->attention_dropout > 0 && !c->attention)
        return "attention dropout needs attention";
    if (c->pe.buckets && c->attention != ATTENTION_DENSE)
        return "a bias needs dense attention";
    if (c->layer == LAYER_GRAPHORMER && c->mpnn)
        return "graphormer has no message passing";
    if (model_has_token(c) && model_uses_edges(c))
        return "--pool token needs attention to all nodes and no message passing";
    if (c->attention == ATTENTION_EXPHORMER && c->attention_dropout > 0)
        return "exphormer attention has no dropout of its own";
    if (c->pe.expander && c->attention != ATTENTION_EXPHORMER)
        return "an expander needs exphormer attention";
    if (c->mlp == MLP_FUSED && !c->attention && c->mpnn != MPNN_GIN && c->mpnn != MPNN_GINE)
        return "a fused mlp needs attention, GIN or GINE";
    if (c->mlp == MLP_FUSED && c->dropout > 0)
        return "a fused mlp has no dropout";
    if (model_has_gate(c) && c->mpnn != MPNN_GINE && c->mpnn != MPNN_GATEDGCN)
        return "eslap needs GINE or GatedGCN";
    if (encoder_width(c) >= c->hidden)
        return "the encoding's width must be less than the hidden size";
    bool heads = (c->attention && !attention_is_linear(c->attention)) || c->mpnn == MPNN_GATV2 ||
                 c->mpnn == MPNN_GATV2_EDGE;
    return heads && c->hidden % c->heads ? "heads must divide hidden" : NULL;
}

int64_t encoder_width(const struct model_config *c)
{
    return c->pe.kind && !model_has_gate(c) ? c->pe.width : 0;
}

bool model_has_gate(const struct model_config *c)
{
    return c->pe.kind == ENCODING_ESLAP;
}

int64_t model_outputs(const struct model_config *c)
{
    static const int64_t standard[TASK_KINDS] = {TARGETS, CLASSES, 1};
    return c->head.outputs ? c->head.outputs : standard[c->task];
}

enum loss_kind model_loss(const struct model_config *c)
{
    static const enum loss_kind standard[TASK_KINDS] = {LOSS_SQUARES, LOSS_CROSS_ENTROPY, LOSS_BINARY};
    return c->head.loss ? c->head.loss : standard[c->task];
}

bool model_uses_edges(const struct model_config *c)
{
    return c->mpnn || c->attention == ATTENTION_SPARSE || c->attention == ATTENTION_EXPHORMER;
}

bool model_has_edge_state(const struct model_config *c)
{
    return c->mpnn >= MPNN_GINE || c->attention == ATTENTION_EXPHORMER;
}

bool model_has_token(const struct model_config *c)
{
    return c->pool == POOL_TOKEN && c->task == TASK_GRAPH;
}

struct feature_config model_edge_features(const struct model_config *c)
{
    static const struct feature_config types = {.tables = 1, .types = {EDGE_FEATURES}};
    return c->pe.hops && !c->edge_features.tables ? types : c->edge_features;
}

bool model_numbers_edges(const struct model_config *c)
{
    return model_has_edge_state(c) || c->attention == ATTENTION_SPARSE;
}

static int64_t linear_parameters(int64_t inputs, int64_t outputs)
{
    return inputs * outputs + outputs;
}

static int64_t encoder_parameters(const struct encoding_config *pe, int64_t hidden)
{
    int64_t k = pe->k, p = pe->width;
    switch (pe->kind) {
    case ENCODING_RWSE:
    case ENCODING_HEAT:
        return 2 * k + linear_parameters(k, p);
    case ENCODING_LAP:
    case ENCODING_LAP_PYG:
        return linear_parameters(2, 2 * p) + linear_parameters(2 * p, p);
    case ENCODING_ESLAP:
        return linear_parameters(k, hidden);
    default:
        return 0;
    }
}

static int64_t mpnn_parameters(enum mpnn_kind kind, int64_t d)
{
    switch (kind) {
    case MPNN_GCN:
        return linear_parameters(d, d);
    case MPNN_GATV2:
        return linear_parameters(d, 2 * d) + 2 * d;
    case MPNN_GATV2_EDGE:
        return mpnn_parameters(MPNN_GATV2, d) + d * d;
    case MPNN_PNA_EDGE:
        return mpnn_parameters(MPNN_PNA, d) + 2 * d * d + d;
    case MPNN_PNA:
        return linear_parameters(2 * d, d) + linear_parameters(4 * d, d) + linear_parameters(d, d);
    case MPNN_GATEDGCN:
        return linear_parameters(d, 4 * d) + linear_parameters(d, d) + 4 * d;
    default: /* GIN and GINE */
        return 2 * linear_parameters(d, d);
    }
}

/* The projections of attention. */
static int64_t attention_parameters(const struct model_config *c)
{
    int64_t d = c->hidden, inner = c->heads * PERFORMER_WIDTH;
    return attention_is_linear(c->attention)     ? 4 * d * inner + d
           : c->attention == ATTENTION_EXPHORMER ? 4 * d * d
                                                 : 4 * linear_parameters(d, d);
}

int64_t feature_types(const struct feature_config *c)
{
    int64_t rows = 0;
    for (int i = 0; i < c->tables; i++)
        rows += c->types[i];
    return rows;
}

int64_t feature_parameters(const struct feature_config *c, int64_t width, int64_t standard)
{
    int64_t numbers = c->numbers ? c->numbers : standard;
    return 2 * c->degrees * width + (c->tables       ? feature_types(c) * width
                                     : c->normalised ? numbers * width + 2 * width
                                                     : linear_parameters(numbers, width));
}

static int64_t bias_parameters(const struct model_config *c)
{
    struct feature_config edges = model_edge_features(c);
    int64_t heads = c->heads, paths = max_of(c->hop_products, c->pe.hops) * heads * heads;
    return c->pe.buckets ? (c->pe.buckets + 1 + model_has_token(c)) * heads +
                               (c->pe.hops ? feature_types(&edges) * heads + paths : 0)
                         : 0;
}

int64_t head_parameters(const struct model_config *c)
{
    int64_t d = c->hidden, outputs = c->task == TASK_EDGE ? d : model_outputs(c);
    switch (c->head.kind) {
    case HEAD_HALVING:
        return linear_parameters(d, d / 2) + linear_parameters(d / 2, d / 4) +
               linear_parameters(d / 4, outputs);
    case HEAD_MLP:
        return (c->head.depth - 1) * linear_parameters(d, d) + linear_parameters(d, outputs);
    default:
        return linear_parameters(d, outputs);
    }
}

int64_t model_parameters(const struct model_config *c)
{
    int64_t d = c->hidden, norm = c->norm == NORM_NONE ? 0 : 2 * d, layer = 0;
    if (c->mpnn)
        layer += mpnn_parameters(c->mpnn, d) + norm;
    if (model_has_gate(c))
        layer += linear_parameters(1, d) + linear_parameters(d, 1);
    if (c->attention)
        layer += attention_parameters(c) + norm + linear_parameters(d, c->ffn) +
                 linear_parameters(c->ffn, d) + norm;
    struct feature_config raw = model_edge_features(c);
    int64_t edges = model_has_edge_state(c) ? feature_parameters(&raw, d, EDGE_FEATURES) : 0;
    int64_t around = (model_has_token(c) ? d : 0) + (c->layer == LAYER_GRAPHORMER ? norm : 0);
    int64_t links = c->pe.expander ? (1 + 3 * c->pe.globals) * d : 0;
    return feature_parameters(&c->features, d - encoder_width(c), FEATURES) + encoder_parameters(&c->pe, d) +
           edges + bias_parameters(c) + links + c->layers * layer + around + head_parameters(c);
}
