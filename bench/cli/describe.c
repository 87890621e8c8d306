#include "bench/cli/describe.h"

#include <math.h>
#include <stdlib.h>

/* The arguments of the first entry of an op; null if the tape has none. */
static const void *first_arguments(const struct tape *t, enum op op)
{
    for (int e = 0; e < tape_entry_count(t); e++)
        if (tape_entry(t, e)->op == op)
            return tape_entry(t, e)->args;
    return NULL;
}

/* The eps of the model's norms, whichever they are; NAN, which is null, if it has none. */
static double eps_of(const struct tape *t)
{
    const struct add_layer_norm_args *layer = first_arguments(t, OP_add_layer_norm);
    const struct batch_norm_args *batch = first_arguments(t, OP_batch_norm);
    const struct graph_norm_args *graph = first_arguments(t, OP_graph_norm);
    return layer ? layer->eps : batch ? batch->eps : graph ? graph->eps : NAN;
}

static struct value *describe_model(const struct config *c, const struct tape *t)
{
    const struct model_config *p = &c->parts;
    struct value *model = value_new_object();
    value_set_text(model, "name", c->model->name);
    value_set_text(model, "attention", attention_name((int)p->attention));
    value_set_text(model, "mpnn", mpnn_name((int)p->mpnn));
    value_set_text(model, "norm", norm_name((int)p->norm));
    value_set_text(model, "pool", pool_name((int)p->pool));
    value_set_text(model, "task", task_name((int)p->task));
    value_set_count(model, "layers", p->layers);
    value_set_count(model, "hidden", p->hidden);
    value_set_count(model, "heads", p->heads);
    value_set_count(model, "ffn", p->ffn);
    value_set_text(model, "act", activation_name((int)p->act));
    value_set_real(model, "eps", eps_of(t));
    value_set_text(model, "loss", p->task == TASK_NODE ? "cross_entropy" : "mse");
    value_set_count(model, "features", FEATURES);
    value_set_count(model, "targets", TARGETS);
    value_set_count(model, "classes", CLASSES);
    value_set_count(model, "parameters", tape_parameter_elements(t));
    return model;
}

static struct value *describe_graph(const struct config *c, const struct batch *b)
{
    struct value *graph = value_new_object();
    value_set_text(graph, "family", c->graph.family);
    value_set_count(graph, "nodes", b->adj.nodes);
    value_set_real(graph, "degree", c->graph.degree);
    value_set_count(graph, "graphs", b->graphs);
    value_set_count(graph, "edges", b->adj.edges);
    value_set_count(graph, "pairs", b->pairs);
    return graph;
}

/* In the initial state the schedule holds the learning rate. */
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

struct value *config_describe(const struct config *c, const struct options *o, const struct batch *b,
                              const struct tape *step)
{
    char work[17];
    struct value *config = value_new_object();
    config_work(c, o->seed, work);
    value_set_text(config, "work", work);
    value_set_text(config, "program", program_name(PROGRAM_STEP));
    value_set_count(config, "seed", (int64_t)o->seed);
    value_set_text(config, "dtype", dtype_name(tape_config(step)->dtype));
    value_set_text(config, "device", o->device.name);
    value_set_count(config, "threads", c->threads);
    value_set(config, "model", describe_model(c, step));
    value_set(config, "graph", describe_graph(c, b));
    value_set(config, "adamw", describe_adamw(step));
    return config;
}
