#include "bench/cli/describe.h"

#include <stdlib.h>

/* The arguments of the first entry of an op; null if the tape has none. */
static const void *first_arguments(const struct tape *t, enum op op)
{
    for (int e = 0; e < tape_entry_count(t); e++)
        if (tape_entry(t, e)->op == op)
            return tape_entry(t, e)->args;
    return NULL;
}

/* The eps of the model's norms, whichever they are. */
static json_t *describe_eps(const struct tape *t)
{
    const struct add_layer_norm_args *layer = first_arguments(t, OP_add_layer_norm);
    const struct batch_norm_args *batch = first_arguments(t, OP_batch_norm);
    const struct graph_norm_args *graph = first_arguments(t, OP_graph_norm);
    return layer   ? json_real(layer->eps)
           : batch ? json_real(batch->eps)
           : graph ? json_real(graph->eps)
                   : json_null();
}

static json_t *describe_model(const struct config *c, const struct tape *t)
{
    const struct model_config *p = &c->parts;
    return json_pack("{ss ss ss ss ss ss sI sI sI sI ss so ss si si si sI}", "name", c->model->name,
                     "attention", attention_name((int)p->attention), "mpnn", mpnn_name((int)p->mpnn), "norm",
                     norm_name((int)p->norm), "pool", pool_name((int)p->pool), "task",
                     task_name((int)p->task), "layers", (json_int_t)p->layers, "hidden",
                     (json_int_t)p->hidden, "heads", (json_int_t)p->heads, "ffn", (json_int_t)p->ffn, "act",
                     activation_name((int)p->act), "eps", describe_eps(t), "loss",
                     p->task == TASK_NODE ? "cross_entropy" : "mse", "features", FEATURES, "targets", TARGETS,
                     "classes", CLASSES, "parameters", (json_int_t)tape_parameter_elements(t));
}

static json_t *describe_graph(const struct config *c, const struct batch *b)
{
    return json_pack("{ss sI sf sI sI sI}", "family", c->graph.family, "nodes", (json_int_t)b->adj.nodes,
                     "degree", c->graph.degree, "graphs", (json_int_t)b->graphs, "edges",
                     (json_int_t)b->adj.edges, "pairs", (json_int_t)b->pairs);
}

/* In the initial state the schedule holds the learning rate. */
static json_t *describe_adamw(const struct tape *t)
{
    const struct adamw_args *a = first_arguments(t, OP_adamw);
    void *copy;
    const double *schedule = tape_read(t, a->schedule, &copy).data;
    json_t *described = json_pack("{sf sf sf sf sf}", "lr", schedule[1], "beta1", a->beta1, "beta2", a->beta2,
                                  "eps", a->eps, "decay", a->decay);
    free(copy);
    return described;
}

json_t *config_describe(const struct config *c, const struct options *o, const struct batch *b,
                        const struct tape *step)
{
    char work[17];
    config_work(c, o->seed, work);
    return json_pack("{ss ss sI ss ss si so so so}", "work", work, "program", program_name(PROGRAM_STEP),
                     "seed", (json_int_t)o->seed, "dtype", dtype_name(tape_config(step)->dtype), "device",
                     o->device.name, "threads", c->threads, "model", describe_model(c, step), "graph",
                     describe_graph(c, b), "adamw", describe_adamw(step));
}
