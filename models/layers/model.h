/*
 * Models by name, and the two programs that are timed: `forward` (inference: nothing saved) and `step`
 * (forward, loss, backward, AdamW).
 *
 * All models have the same structure: features through Linear(FEATURES, d), or Linear(FEATURES, d - p)
 * concatenated with p columns of the encoder (models/layers/encoder.h); a stack of GPS layers; then the
 * task's head, which is Linear(d, TARGETS) on the pooled rows of each graph or Linear(d, CLASSES) on each
 * node. Graphormer has layers of its own (graphormer.h). A model of the suite is a choice of the layers'
 * branches; one of a plug-in (docs/plugins.md) records what is between input and pooling itself.
 */
#ifndef GTMARK_MODELS_MODEL_H
#define GTMARK_MODELS_MODEL_H

#include "models/layers/layers.h"

/*
 * `attention` and `mpnn` are the branches, which in models of ours flags may replace; edges are inputs only
 * if one needs them. `record` takes the embedded nodes, N x D, to those that are pooled; null: GPS layers.
 */
struct model {
    const char *name, *doc;
    enum attention_kind attention;
    enum mpnn_kind mpnn;
    struct mat (*record)(struct tape *t, struct mat x, struct structure *s, const struct model_config *c);
};

/* The models in order of --list models; the last has a null name. */
extern const struct model models[];

/* The model of this name, of the suite or of these others, which end in the same way; null: none. */
const struct model *model_named(const char *name, const struct model *others);

/*
 * What the library of a plug-in with models exports: GTMARK_MODELS(array) defines it. Models see the structs
 * of these headers, so the library must be compiled with the very same, of which gtmark.pc defines GTMARK_ID.
 */
struct model_plugin {
    const char *id;
    const struct model *models; /* the last has a null name */
};
#define GTMARK_TEXT_(id) #id
#define GTMARK_TEXT(id)  GTMARK_TEXT_(id)
#define GTMARK_MODELS(array)                                                                                 \
    extern __attribute__((visibility("default"))) const struct model_plugin gtmark_models;                   \
    const struct model_plugin gtmark_models = {GTMARK_TEXT(GTMARK_ID), array}

/*
 * Records a layer c->layers times, in spans layer1, layer2, ..., divided as --checkpoint says. A layer has
 * the signature of gps_layer.
 */
struct mat model_layers(struct tape *t, struct mat x, struct structure *s, const struct model_config *c,
                        struct mat (*layer)(struct tape *t, const char *name, struct mat x,
                                            struct structure *s, const struct model_config *c));

/* Of the row: dropout, the layers, the last norm. */
struct mat graphormer(struct tape *t, struct mat x, struct structure *s, const struct model_config *c);

/* The programs of a model, and that of a single op (op_program.h). */
enum program_kind {
    PROGRAM_FORWARD,
    PROGRAM_STEP,
    MODEL_PROGRAMS,
    PROGRAM_KERNEL = MODEL_PROGRAMS,
    PROGRAMS
};

/* A recorded program. `loss` is absent in `forward`; both are kept until the end of a replay. */
struct recording {
    struct tape *tape;
    struct mat output, loss;
};

/*
 * Records a program of a model over a batch, with uniform features and targets or labels. Sets
 * `tape.training`. The encoding matches c->pe; it is null if there is none or if the tape is never laid out,
 * in which case shapes come from the batch. Batch and encoding must live until tape_init. Free the tape with
 * tape_free.
 */
struct recording program_record(enum program_kind kind, const struct model_config *c,
                                const struct batch *batch, const struct encoding *encoding,
                                struct tape_config tape);

/*
 * The first form of an op in a program of the model, beside those that run only on the host, for which a
 * backend has no kernel; null: none. Recording the program on that backend would abort.
 */
const char *program_missing(enum program_kind kind, const struct model_config *c, const struct backend *b);

/* The number of parameters: by the formula, or of a plug-in's model as a recording has it. */
int64_t program_parameters(const struct model_config *c);

#endif
