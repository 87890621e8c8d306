/* The registry of models, and the recording of their programs. */
#include "models/layers/model.h"

#include <stdio.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "kernels/guest.h"
#include "models/layers/encoder.h"
#include "models/layers/features.h"
#include "models/layers/graphormer.h"
#include "models/layers/head.h"
#include "models/tape/tape_internal.h"

const struct model models[] = {
    {"gps", "GIN and dense attention side by side in each layer, then a feed-forward network",
     ATTENTION_DENSE, MPNN_GIN, NULL},
    {"gps_sparse", "the same with attention on the edges only", ATTENTION_SPARSE, MPNN_GIN, NULL},
    {"graph_transformer", "dense attention and a feed-forward network in each layer", ATTENTION_DENSE,
     MPNN_NONE, NULL},
    {"sparse_transformer", "the same with attention on the edges only", ATTENTION_SPARSE, MPNN_NONE, NULL},
    {"graphormer", "Graphormer: degrees, a token, attention with a bias by distances and the edges of paths",
     ATTENTION_DENSE, MPNN_NONE, graphormer},
    {"gin", "GIN alone: message passing and a norm in each layer", ATTENTION_NONE, MPNN_GIN, NULL},
    {0},
};

static const struct model *named_among(const struct model *m, const char *name)
{
    while (m && m->name && strcmp(m->name, name) != 0)
        m++;
    return m && m->name ? m : NULL;
}

const struct model *model_named(const char *name, const struct model *others)
{
    const struct model *m = named_among(models, name);
    return m ? m : named_among(others, name);
}

static const struct adamw default_adamw = {
    .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.01};

/* [embedded features || encoder(encoding)], concatenated in one matrix. */
static struct mat program_input(struct tape *t, const struct model_config *c, struct mat features,
                                const struct batch *batch, const struct encoding *encoding)
{
    int64_t p = encoder_width(c), d = c->hidden - p;
    struct mat x = tape_matrix(t, features.rows, c->hidden), to = mat_cols(x, 0, d);
    struct mat own = c->features.degrees ? tape_matrix(t, x.rows, d) : to;
    embed_to(t, "input", own, features, &c->features);
    if (c->features.degrees)
        op(t, add, .y = to, .a = own, .b = degree_rows(t, "degrees", batch, c->features.degrees, d));
    if (p > 0)
        encoder(t, "encoder", mat_cols(x, d, p), &c->pe, batch, encoding);
    return x;
}

/* The initial state of the edges, their embedded features; absent without edges. */
static struct mat program_edges(struct tape *t, const struct model_config *c, const struct batch *batch)
{
    static const char name[] = "edge_encoder";
    const struct feature_config f = model_edge_features(c);
    if (batch->adj.edges == 0) {
        embed_unused(t, name, &f, c->hidden, EDGE_FEATURES);
        return (struct mat){0};
    }
    struct row_range rows = {.first = batch->part.edge, .count = batch->adj.edges};
    struct mat raw = raw_features(t, "edge_features", &f, rows, EDGE_FEATURES, &batch->inputs.edge_features);
    struct mat y = tape_matrix(t, batch->adj.edges, c->hidden);
    embed_to(t, name, y, raw, &f);
    return y;
}

/* The segment that layer l is in, from 0. */
static int64_t segment_of(const struct model_config *c, int64_t l)
{
    return l * checkpoint_segments(c->checkpoint, c->layers) / c->layers;
}

/* The last segment is not marked: its gradients are computed while its activations are still there. */
struct mat model_layers(struct tape *t, struct mat x, struct structure *s, const struct model_config *c,
                        struct mat (*layer)(struct tape *t, const char *name, struct mat x,
                                            struct structure *s, const struct model_config *c))
{
    int64_t last = segment_of(c, c->layers - 1);
    for (int64_t l = 0; l < c->layers; l++) {
        int64_t segment = segment_of(c, l);
        char name[32];
        snprintf(name, sizeof name, "layer%lld", (long long)l + 1);
        if (segment < last && (l == 0 || segment_of(c, l - 1) < segment))
            tape_segment_begin(t);
        s->edge_ends = l == c->layers - 1;
        x = layer(t, name, x, s, c);
        if (segment < last && segment < segment_of(c, l + 1))
            tape_segment_end(t);
    }
    return x;
}

struct mat graphormer(struct tape *t, struct mat x, struct structure *s, const struct model_config *c)
{
    x = model_layers(t, dropout(t, "dropout_input", x, c->dropout), s, c, graphormer_layer);
    return add_norm(t, "norm", c->norm, x, (struct mat){0}, s);
}

static struct mat program_output(struct tape *t, const struct model_config *c, struct structure *s,
                                 const struct batch *batch, struct mat x)
{
    if (c->own) {
        struct guest g = guest_enter("record", c->own->name);
        x = c->own->record(t, x, s, c);
        guest_leave(&g);
    } else {
        x = c->layer == LAYER_GRAPHORMER ? graphormer(t, x, s, c) : model_layers(t, x, s, c, gps_layer);
    }
    if (model_has_token(c))
        x = token_rows(t, "pool", x, batch);
    else if (c->task == TASK_GRAPH)
        x = pool_nodes(t, "pool", c->pool, x, s);
    return head(t, x, c, batch);
}

static struct mat program_targets(struct tape *t, const struct model_config *c, const struct batch_inputs *in,
                                  struct row_range rows, struct mat y)
{
    return takes_targets(c, in) ? input_reals(t, "targets", y.rows, y.cols, in->targets.value)
                                : input_uniform(t, "targets", rows, y.cols);
}

/* Which nodes of the batch a part has; a placeholder is any. */
static struct row_range node_rows(const struct batch *b)
{
    return (struct row_range){b->part.node, b->adj.nodes, b->part.empty ? NULL : b->halo.node};
}

static struct mat program_loss(struct tape *t, const struct model_config *c, const struct batch *b,
                               struct mat y)
{
    const struct batch_inputs *in = &b->inputs;
    struct row_range rows = c->task == TASK_GRAPH ? (struct row_range){.first = b->part.graph} : node_rows(b);
    rows.count = y.rows;
    if (takes_labels(c, in))
        return cross_entropy(t, "loss", y, input_copy(t, "labels", I64, y.rows, 1, in->label));
    switch (model_loss(c)) {
    case LOSS_CROSS_ENTROPY:
        return cross_entropy(t, "loss", y, input_index(t, "labels", rows, 1, (int)y.cols));
    case LOSS_BINARY:
        return binary_cross_entropy(t, "loss", y, input_index(t, "labels", rows, y.cols, 2));
    case LOSS_ABSOLUTE:
        return mean_absolute_error(t, "loss", y, program_targets(t, c, in, rows, y));
    default:
        return mean_squared_error(t, "loss", y, program_targets(t, c, in, rows, y));
    }
}

struct recording program_record(enum program_kind kind, const struct model_config *c,
                                const struct batch *batch, const struct encoding *encoding,
                                struct tape_config tape)
{
    tape.training = kind == PROGRAM_STEP;
    if (tape.part.ranks)
        tape.part.share = parallel_share(batch, tape.part.ranks, c->task == TASK_GRAPH);
    struct tape *t = tape_new(&tape);
    struct recording r = {.tape = t};
    struct row_range nodes = node_rows(batch);
    struct mat features = raw_features(t, "features", &c->features, nodes, FEATURES, &batch->inputs.features);
    struct batch with = model_has_token(c) ? token_batch(t, batch) : *batch;
    struct structure s = tape_structure(t, &with, model_uses_edges(c), model_numbers_edges(c));
    if (c->ring && batch->halo.ranks)
        s.graphs.pairs = ring_inputs(t, &s.peers, batch);
    if (c->norm == NORM_BATCH || c->norm == NORM_GRAPH)
        norm_inputs(t, &s.peers, batch, c->norm == NORM_BATCH, c->hidden);
    if (c->mpnn == MPNN_GCN)
        s.gcn = gcn_weights(t, "gcn_weights", &s.adj);
    struct mat x = program_input(t, c, features, batch, encoding);
    if (model_has_gate(c))
        s.place = gate_encoder(t, "encoder", c->hidden, &c->pe, batch, encoding);
    if (model_has_edge_state(c))
        s.edge = program_edges(t, c, batch);
    if (c->pe.buckets)
        s.bias = attention_bias(t, "bias", c, batch, encoding);
    if (model_has_token(c))
        x = add_tokens(t, "token", x, batch);
    if (c->attention == ATTENTION_EXPHORMER)
        s.expanded = expanded_edges(t, "expander", c, batch, encoding, &s);
    r.output = program_output(t, c, &s, batch, x);
    if (!c->own && tape_parameter_elements(t) != model_parameters(c))
        tape_contract("the model has %lld parameters, but the formula gives %lld",
                      (long long)tape_parameter_elements(t), (long long)model_parameters(c));
    if (kind == PROGRAM_STEP) {
        r.loss = program_loss(t, c, batch, r.output);
        tape_keep(t, r.loss);
        tape_backward(t, r.loss);
        tape_adamw(t, &default_adamw);
    }
    tape_keep(t, r.output);
    return r;
}

static const char *missing_of(const struct program *p, const struct backend *b)
{
    for (int i = 0; i < p->count; i++) {
        const struct entry *e = &p->entries[i];
        if (!op_info(e->op)->host &&
            !backend_form_kernel(b, e->op, op_options(e->op, e->args), e->kernel->dtype, NULL))
            return e->form;
    }
    return NULL;
}

/* Over a small graph, of which only the shape is there. */
static struct tape *record_small(enum program_kind kind, const struct model_config *c, struct batch *batch)
{
    const struct graph_config graph = {.family = "er", .nodes = 64, .degree = 2, .graphs = 1};
    const struct tape_config tape = {
        .backend = &backend_ref, .dtype = precision_dtype(c->precision), .threads = 1};
    char error[256];
    if (!batch_shape(batch, &graph, error, sizeof error))
        tape_contract("%s", error);
    return program_record(kind, c, batch, NULL, tape).tape;
}

/* The ops do not depend on the graph, nor on the number of layers beyond the second. */
const char *program_missing(enum program_kind kind, const struct model_config *c, const struct backend *b)
{
    struct model_config few = *c;
    struct batch batch;
    few.layers = min_of(c->layers, 2);
    few.checkpoint = checkpoint_segments(c->checkpoint, c->layers) > 1 ? "layer" : NULL;
    struct tape *t = record_small(kind, &few, &batch);
    const char *missing = missing_of(&t->init, b);
    missing = missing ? missing : missing_of(&t->main, b);
    tape_free(t);
    batch_free(&batch);
    return missing;
}

int64_t program_parameters(const struct model_config *c)
{
    struct batch batch;
    if (!c->own)
        return model_parameters(c);
    struct tape *t = record_small(PROGRAM_FORWARD, c, &batch);
    int64_t count = tape_parameter_elements(t);
    tape_free(t);
    batch_free(&batch);
    return count;
}
