/*
 * Models by name, and the two programs that are timed: `forward` (inference: nothing saved) and `step`
 * (forward, loss, backward, AdamW).
 */
#ifndef GTMARK_MODELS_MODEL_H
#define GTMARK_MODELS_MODEL_H

#include "graphs/graph.h"
#include "models/tape.h"

/* Columns of the node features, and of the targets. */
enum { FEATURES = 16, TARGETS = 1 };

struct model_config {
    int64_t layers, hidden, heads, ffn; /* ffn: width of the hidden layer of the feed-forward network */
    enum activation act;
};

struct model {
    const char *name, *doc;
    /* Records the model: node features N x FEATURES -> one row of TARGETS per graph. */
    struct mat (*record)(struct tape *t, const struct model_config *c, struct mat features,
                         const struct offsets *graphs);
    /* Parameters by the closed formula, which recording must agree with. */
    int64_t (*parameters)(const struct model_config *c);
};

extern const struct model graph_transformer;

/* The models in order of --list-models; null ends the list. */
extern const struct model *const models[];

/* Null if there is none of that name. */
const struct model *model_named(const char *name);

/* Why these axes cannot be combined ("heads must divide hidden"), or null. */
const char *model_refuses(const struct model_config *c);

enum program_kind { PROGRAM_FORWARD, PROGRAM_STEP, PROGRAMS };

const char *program_name(enum program_kind p);

/* A recorded program. `loss` is absent in `forward`; both are kept to the end of a replay. */
struct recording {
    struct tape *tape;
    struct mat output, loss;
};

/*
 * Records a program over a batch, with uniform features and targets. `config.training` is set here. The batch
 * must live until the tape's layout was initialised. Free the tape with tape_free.
 */
struct recording record_program(enum program_kind kind, const struct model *m, const struct model_config *c,
                                const struct batch *batch, struct tape_config config);

#endif
