#include "bench/show/dump.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/show/npy.h"

static bool is_empty(DIR *directory)
{
    int entries = 0;
    while (readdir(directory))
        entries++;
    return entries <= 2; /* itself and the one above */
}

static bool can_write(const char *directory)
{
    return access(directory, W_OK | X_OK) == 0;
}

static bool can_make(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    return can_write(dirname(copy));
}

/* Whether files can be put there: an empty directory, or a name at which one can be made. */
static bool place_free(const char *path, struct message *error)
{
    DIR *directory = opendir(path);
    if (!directory && errno == ENOENT && can_make(path))
        return true;
    if (!directory || !can_write(path)) {
        complain(error, "--dump %.300s: %s", path, strerror(errno));
        if (directory)
            closedir(directory);
        return false;
    }
    bool empty = is_empty(directory);
    closedir(directory);
    return empty || complain(error, "--dump %.300s: the directory is not empty", path);
}

bool dump_possible(const struct options *o, struct message *error)
{
    if (!o->dump)
        return true;
    if (config_count(o) != 1)
        return complain(error,
                        "--dump %.300s: one configuration, but the axes make %lld (give each one value)",
                        o->dump, (long long)config_count(o));
    if (o->device.all)
        return complain(error, "--dump %.300s: of one device, but --device is %s", o->dump, o->device.given);
    if (o->device.meta || !o->programs[PROGRAM_STEP])
        return complain(error, "--dump %.300s: needs a step that runs, not --device meta or --phase forward",
                        o->dump);
    return place_free(o->dump, error);
}

/* DIR/KIND.NAME.npy, or DIR/KIND.npy without a name. */
static bool write_array(const char *directory, const char *kind, const char *name, struct npy a,
                        struct message *error)
{
    char path[PATH_MAX];
    int length =
        snprintf(path, sizeof path, "%s/%s%s%s.npy", directory, kind, name ? "." : "", name ? name : "");
    return length < PATH_MAX ? npy_write(path, &a, error)
                             : complain(error, "--dump %.300s: the path is too long", directory);
}

static bool write_matrix(const char *directory, const char *kind, const char *name, const struct tape *t,
                         struct mat m, struct message *error)
{
    void *copy;
    bool written = write_array(directory, kind, name, npy_matrix(tape_read(t, m, &copy)), error);
    free(copy);
    return written;
}

static bool write_inputs(const char *directory, const struct tape *t, struct message *error)
{
    const char *name;
    for (int i = 0; i < tape_input_count(t); i++) {
        struct mat m = tape_input(t, i, &name);
        if (!write_matrix(directory, "input", name, t, m, error))
            return false;
    }
    for (int p = 0; p < tape_parameter_count(t); p++) {
        struct mat m = tape_parameter(t, p, &name);
        if (!write_matrix(directory, "param", name, t, m, error))
            return false;
    }
    return true;
}

static bool write_graph(const char *directory, const struct csr *g, struct message *error)
{
    return write_array(directory, "graph", "row_ptr", npy_indices64(g->row_ptr, g->nodes + 1), error) &&
           write_array(directory, "graph", "col", npy_indices32(g->col, g->edges), error);
}

static bool write_results(const char *directory, const struct recording *step, struct message *error)
{
    const struct tape *t = step->tape;
    if (!write_matrix(directory, "output", NULL, t, step->output, error) ||
        !write_matrix(directory, "loss", NULL, t, step->loss, error))
        return false;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        const char *name;
        struct mat gradient = tape_gradient(t, tape_parameter(t, p, &name));
        if (!write_matrix(directory, "grad", name, t, gradient, error))
            return false;
    }
    return true;
}

/* The arguments of the first entry of an op; null if the tape has none. */
static const void *arguments_of(const struct tape *t, enum op op)
{
    for (int e = 0; e < tape_entry_count(t); e++)
        if (tape_entry(t, e)->op == op)
            return tape_entry(t, e)->args;
    return NULL;
}

/* The eps of the model's norms, whichever they are. */
static json_t *describe_eps(const struct tape *t)
{
    const struct add_layer_norm_args *layer = arguments_of(t, OP_add_layer_norm);
    const struct batch_norm_args *batch = arguments_of(t, OP_batch_norm);
    const struct graph_norm_args *graph = arguments_of(t, OP_graph_norm);
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

/* The tape is in its initial state, since the schedule holds the learning rate. */
static json_t *describe_adamw(const struct tape *t)
{
    const struct adamw_args *a = arguments_of(t, OP_adamw);
    void *copy;
    const double *schedule = tape_read(t, a->schedule, &copy).data;
    json_t *described = json_pack("{sf sf sf sf sf}", "lr", schedule[1], "beta1", a->beta1, "beta2", a->beta2,
                                  "eps", a->eps, "decay", a->decay);
    free(copy);
    return described;
}

static bool write_config(const struct options *o, const struct config *c, const struct batch *b,
                         const struct tape *t, struct message *error)
{
    char path[PATH_MAX], work[17];
    config_work(c, o->seed, work);
    snprintf(path, sizeof path, "%s/config.json", o->dump);
    json_t *config = json_pack(
        "{ss ss sI ss ss si so so so}", "work", work, "program", program_name(PROGRAM_STEP), "seed",
        (json_int_t)o->seed, "dtype", dtype_name(tape_config(t)->dtype), "device", o->device.name, "threads",
        c->threads, "model", describe_model(c, t), "graph", describe_graph(c, b), "adamw", describe_adamw(t));
    bool written = config && json_dump_file(config, path, JSON_INDENT(4)) == 0;
    json_decref(config);
    return written || complain(error, "%s: cannot be written: %s", path, strerror(errno));
}

bool dump_write(const struct options *o, const struct config *c, const struct batch *b,
                const struct recording *step, struct message *error)
{
    if (mkdir(o->dump, 0777) != 0 && errno != EEXIST)
        return complain(error, "--dump %.300s: %s", o->dump, strerror(errno));
    tape_init(step->tape);
    bool written = write_inputs(o->dump, step->tape, error) && write_graph(o->dump, &b->adj, error);
    tape_run(step->tape);
    written = written && write_results(o->dump, step, error);
    tape_init(step->tape);
    return written && write_config(o, c, b, step->tape, error);
}
