/*
 * Models by name, and the two programs that are timed: `forward` (inference: nothing saved) and `step`
 * (forward, loss, backward, AdamW).
 *
 * All models have the same structure: features through Linear(FEATURES, d), or Linear(FEATURES, d - p)
 * concatenated with p columns of the encoder (models/layers/encoder.h); a stack of GPS layers; then the
 * task's head, which is Linear(d, TARGETS) on the pooled rows of each graph or Linear(d, CLASSES) on each
 * node. A model is a choice of the layers' branches.
 */
#ifndef GTMARK_MODELS_MODEL_H
#define GTMARK_MODELS_MODEL_H

#include "models/layers/layers.h"

struct model {
    const char *name, *doc;
    enum attention_kind attention;
    enum mpnn_kind mpnn;
};

/* The models in order of --list models; the last has a null name. */
extern const struct model models[];

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

#endif
