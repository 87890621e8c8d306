#include "bench/cli/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of the first entry of an op; null if the tape has none. */
static const void *first_arguments(const struct tape *t, enum op op)
{
    for (int e = 0; e < tape_entry_count(t); e++)
        if (tape_entry(t, e)->op == op)
            return tape_entry(t, e)->args;
    return NULL;
}

/* The eps of the model's norms; NAN, written as null, if it has none. */
static double eps_of(const struct tape *t)
{
    const struct layer_norm_args *first = first_arguments(t, OP_layer_norm);
    const struct add_layer_norm_args *layer = first_arguments(t, OP_add_layer_norm);
    const struct batch_norm_args *batch = first_arguments(t, OP_batch_norm);
    const struct graph_norm_args *graph = first_arguments(t, OP_graph_norm);
    return first ? first->eps : layer ? layer->eps : batch ? batch->eps : graph ? graph->eps : NAN;
}

/* Adds the axes under `path`: "model.", "graph.", or "" for config.json itself. */
static void describe_axes(const struct config *c, const char *path, struct value *object)
{
    enum axis order[AXES];
    axes_swept(order);
    for (int i = 0; i < AXES; i++) {
        const char *entry = axis_info(order[i])->dump, *name = entry ? entry + strlen(path) : NULL;
        struct axis_value v;
        if (!entry || strncmp(entry, path, strlen(path)) != 0 || strchr(name, '.'))
            continue;
        config_axis(c, order[i], &v);
        if (v.text)
            value_set_text(object, name, v.text);
        else if (v.kind == AXIS_WHOLE)
            value_set_count(object, name, v.count);
        else
            value_set_real(object, name, v.is_absent ? NAN : v.real);
    }
}

static struct value *describe_model(const struct config *c, const struct tape *t)
{
    struct value *model = value_new_object();
    describe_axes(c, "model.", model);
    value_set_real(model, "eps", eps_of(t));
    value_set_text(model, "loss", loss_name(model_loss(&c->parts)));
    value_set_count(model, "outputs", model_outputs(&c->parts));
    value_set_count(model, "features", c->parts.features.numbers ? c->parts.features.numbers : FEATURES);
    value_set_count(model, "targets", TARGETS);
    value_set_count(model, "classes", CLASSES);
    value_set_count(model, "parameters", tape_parameter_elements(t));
    return model;
}

static struct value *describe_graph(const struct config *c, const struct batch *b)
{
    struct value *graph = value_new_object();
    describe_axes(c, "graph.", graph);
    value_set_count(graph, "nodes", b->adj.nodes);
    value_set_count(graph, "graphs", b->graphs);
    value_set_count(graph, "edges", b->adj.edges);
    value_set_count(graph, "pairs", b->pairs);
    return graph;
}

/* Initially the schedule contains the learning rate. */
static struct value *describe_adamw(const struct tape *t)
{
    const struct adamw_args *a = first_arguments(t, OP_adamw);
    struct value *adamw = value_new_object();
    void *copy;
    const double *schedule = tape_read(t, a->schedule, &copy).data;
    value_set_real(adamw, "lr", schedule[1]);
    value_set_real(adamw, "beta1", a->beta1);
    value_set_real(adamw, "beta2", a->beta2);
    value_set_real(adamw, "eps", a->eps);
    value_set_real(adamw, "decay", a->decay);
    free(copy);
    return adamw;
}

struct value *config_describe(const struct config *c, const char *device, const struct batch *b,
                              const struct tape *step)
{
    struct value *config = value_new_object();
    value_set_text(config, "work", c->work);
    value_set_text(config, "program", program_name(PROGRAM_STEP));
    value_set_count(config, "seed", (int64_t)c->graph.seed);
    value_set_text(config, "device", device);
    describe_axes(c, "", config);
    value_set(config, "model", describe_model(c, step));
    value_set(config, "graph", describe_graph(c, b));
    value_set(config, "adamw", describe_adamw(step));
    return config;
}
