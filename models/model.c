/* The registry of models, and how a model becomes a program. */
#include "models/model.h"

#include <string.h>

#include "models/layers.h"
#include "models/tape_internal.h"

const struct model *const models[] = {&graph_transformer, NULL};

const struct model *model_named(const char *name)
{
    for (int i = 0; models[i]; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}

const char *model_refuses(const struct model_config *c)
{
    return c->hidden % c->heads ? "heads must divide hidden" : NULL;
}

const char *program_name(enum program_kind p)
{
    static const char *const names[PROGRAMS] = {"forward", "step"};
    return names[p];
}

static const struct adamw default_adamw = {
    .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.01};

struct recording record_program(enum program_kind kind, const struct model *m, const struct model_config *c,
                                const struct batch *batch, struct tape_config config)
{
    config.training = kind == PROGRAM_STEP;
    struct tape *t = tape_new(&config);
    struct recording r = {.tape = t};
    struct mat features = input_uniform(t, "features", batch->adj.nodes, FEATURES);
    struct mat at = input_copy(t, "graphs", I64, batch->graphs + 1, 1, batch->offset);
    struct offsets graphs = {.at = at, .pairs = batch->pairs};
    r.output = m->record(t, c, features, &graphs);
    if (tape_parameter_elements(t) != m->parameters(c))
        tape_contract("%s has %lld parameters, but its formula says %lld", m->name,
                      (long long)tape_parameter_elements(t), (long long)m->parameters(c));
    if (kind == PROGRAM_STEP) {
        r.loss = mean_squared_error(t, "loss", r.output, input_uniform(t, "targets", batch->graphs, TARGETS));
        tape_keep(t, r.loss);
        tape_backward(t, r.loss);
        tape_adamw(t, &default_adamw);
    }
    tape_keep(t, r.output);
    return r;
}
