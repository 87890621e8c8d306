#include "bench/cli/config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/affinity.h"
#include "bench/cli/presets.h"
#include "bench/machine/machine.h"
#include "graphs/inputs.h"
#include "kernels/arithmetic.h"
#include "models/layers/features.h"

/* The number of solvers for the encoding at an index: one if there is no eigenproblem. */
static int solvers_of(const struct options *o, int index)
{
    struct encoding_config c;
    encoding_parse(axis_text(&o->axes[AXIS_PE], o->axes[AXIS_PE].values[index]), &c);
    return encoding_is_spectral(&c) ? o->axes[AXIS_SOLVER].count : 1;
}

/* Encodings and their solvers, counted as one axis. */
static int encoding_count(const struct options *o)
{
    int count = 0, encodings = o->axes[AXIS_PE].count;
    if (o->axes[AXIS_SOLVER].count == 1)
        return encodings;
    for (int i = 0; i < encodings; i++)
        count += solvers_of(o, i);
    return count;
}

/* The index-th of these combinations. */
static void choose_encoding(const struct options *o, int index, double value[AXES])
{
    int i = o->axes[AXIS_SOLVER].count == 1 ? index : 0;
    for (index -= i; index >= solvers_of(o, i); i++)
        index -= solvers_of(o, i);
    value[AXIS_PE] = o->axes[AXIS_PE].values[i];
    value[AXIS_SOLVER] = o->axes[AXIS_SOLVER].values[index];
}

int64_t config_count(const struct options *o)
{
    int64_t count = encoding_count(o);
    if (o->shard.rows)
        return o->shard.count;
    for (enum axis a = 0; a < AXES && count <= AXIS_VALUES_MAX; a++)
        count *= a == AXIS_PE || a == AXIS_SOLVER ? 1 : o->axes[a].count;
    return o->kernels ? count * o->kernel_count : count;
}

/* The position of a row in the whole sweep. */
static int64_t position_of(const struct options *o, int64_t index)
{
    return o->shard.rows ? o->shard.rows[index] : index;
}

int64_t config_values(const struct options *o, int64_t index, double value[AXES])
{
    int64_t rest = position_of(o, index);
    enum axis order[AXES];
    axes_swept(order);
    for (int i = AXES - 1; i >= 0; i--) {
        enum axis a = order[i];
        int count = a == AXIS_SOLVER ? encoding_count(o) : a == AXIS_PE ? 1 : o->axes[a].count;
        if (a == AXIS_SOLVER)
            choose_encoding(o, (int)(rest % count), value);
        else if (a != AXIS_PE)
            value[a] = o->axes[a].values[rest % count];
        rest /= count;
    }
    if (o->largest.kind != LARGEST_NONE) { /* the smallest before the search, and for a skipped row */
        double found = o->largest.found ? (double)o->largest.found[index] : 0;
        value[o->largest.axis] = fmax(found, o->largest.axis == AXIS_HIDDEN ? value[AXIS_HEADS] : 1);
    }
    return rest;
}

void config_complete(struct config *c)
{
    if ((int)c->parts.attention < 0)
        c->parts.attention = models[c->model].attention;
    if ((int)c->parts.mpnn < 0)
        c->parts.mpnn = models[c->model].mpnn;
    if (!c->parts.ffn)
        c->parts.ffn = 2 * c->parts.hidden;
    const struct graph_shape *shape = graph_shape_of(c->graph.family);
    if (shape) {
        c->graph.nodes = (int64_t)shape->nodes;
        c->graph.degree = graph_shape_degree(shape);
    }
}

/* Whether presets have values for this axis. */
static bool preset_sets(enum axis a)
{
    return a != AXIS_PRESET && a != AXIS_MODEL && a != AXIS_CHECKPOINT && a != AXIS_SOLVER && a != AXIS_MLP &&
           a != AXIS_ORDER && a != AXIS_THREADS && a != AXIS_RANKS && a != AXIS_PARALLEL &&
           a != AXIS_PARTITION;
}

/* As the preset has it, before it is completed. */
static struct config config_of_preset(const struct preset *p)
{
    return (struct config){.parts = p->parts, .graph = p->graph};
}

/*
 * Whether an axis has the value of the command line, not of the preset: it is given, or it is what the
 * benchmark sweeps or searches. A branch of the layers that is left to the model is that of the preset,
 * unless a model is given.
 */
static bool takes_option(const struct options *o, const struct preset *p, enum axis a, double value)
{
    bool searched = o->largest.kind != LARGEST_NONE && o->largest.axis == a;
    if (p && !value && (a == AXIS_ATTENTION || a == AXIS_MPNN))
        return o->given[AXIS_MODEL];
    return !p || !preset_sets(a) || o->given[a] || o->axes[a].count > 1 || searched;
}

struct config config_at(const struct options *o, int64_t index)
{
    double value[AXES];
    int64_t kernel = config_values(o, index, value);
    const struct preset *p = preset_at((int64_t)value[AXIS_PRESET]);
    struct config c = p ? config_of_preset(p) : (struct config){0};
    c.position = position_of(o, index);
    c.kernel = o->kernels ? o->kernels[kernel] : NULL;
    c.graph.seed = o->seed;
    c.tables = o->tables;
    for (enum axis a = 0; a < AXES; a++)
        if (takes_option(o, p, a, value[a]))
            config_set(&c, a, &o->axes[a], value[a]);
    config_complete(&c);
    c.parts.ring = c.parallel == PARALLEL_RING;
    c.threads = c.threads > 0 ? c.threads : (int)max_of(1, o->cores / c.ranks);
    if (o->weak && c.parallel == PARALLEL_DATA)
        c.graph.graphs *= c.ranks;
    else if (o->weak)
        c.graph.nodes *= c.ranks;
    c.index = index;
    return c;
}

static bool is_same(const struct config *c, const struct config *d, enum axis a)
{
    struct axis_value x, y;
    config_axis(c, a, &x);
    config_axis(d, a, &y);
    return x.text ? strcmp(x.text, y.text) == 0 : x.count == y.count && x.real == y.real;
}

void config_changes(const struct config *c, char *text, size_t size)
{
    struct config published = config_of_preset(preset_at(c->preset));
    enum axis order[AXES];
    size_t used = 0;
    if (!published.parts.ffn)
        published.parts.ffn = 2 * c->parts.hidden;
    config_complete(&published);
    axes_swept(order);
    *text = '\0';
    for (int i = 0; i < AXES && used < size; i++)
        if (preset_sets(order[i]) && !is_same(c, &published, order[i]))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     axis_info(order[i])->name);
}

bool config_runs(const struct options *o, const struct config *c, enum program_kind kind)
{
    bool first = c->parts.pe.solver == (enum eigensolver)o->axes[AXIS_SOLVER].values[0];
    return o->programs[kind] && (!o->model_nodes || (c->graph.nodes <= o->model_nodes && first));
}

/* A graph from a file has a size of its own, and so have the graphs of a shape, also of a preset's. */
static bool check_size(const struct options *o, const struct config *c, struct message *error)
{
    const char *graph = c->graph.family;
    bool file = graph_is_file(graph);
    const struct preset *p = o->given[AXIS_GRAPH] ? NULL : preset_at(c->preset);
    for (enum axis a = 0; (file || graph_shape_of(graph)) && a < AXES; a++) {
        if (!o->given[a] || axis_info(a)->work != WORK_GRAPH || (!file && a == AXIS_BATCH))
            continue;
        if (p)
            return complain(error,
                            "--preset %s --%s: the shape determines this axis, unless --graph names a family",
                            p->name, axis_info(a)->name);
        return complain(error, "--graph %.300s --%s: the %s determines this axis", graph, axis_info(a)->name,
                        file ? "file" : "shape");
    }
    return true;
}

/* The head width must be supported by the device's attention. */
static bool check_heads(const struct options *o, const struct config *c, struct message *error)
{
    int most = o->device.backend->head_most;
    int64_t head = c->parts.hidden / c->parts.heads;
    if (c->parts.attention != ATTENTION_DENSE || !most || head <= most)
        return true;
    return complain(
        error,
        "--device %s --hidden %lld --heads %lld: heads of %lld columns; dense attention there supports "
        "up to %d (--attention unfused: any number)",
        o->device.given, (long long)c->parts.hidden, (long long)c->parts.heads, (long long)head, most);
}

/* What mixes the rows of a batch without knowing which belong to nodes. */
static bool check_batching(const struct options *o, const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    bool layers = p->attention <= ATTENTION_SPARSE && p->mpnn <= MPNN_GIN && p->attention_dropout == 0 &&
                  (p->norm == NORM_LAYER || p->norm == NORM_NONE);
    bool ends = p->pool != POOL_MAX && p->task == TASK_GRAPH && p->pe.kind == ENCODING_NONE;
    if (c->graph.batching == BATCHING_RAGGED || (layers && ends && !o->device.backend->device))
        return true;
    return complain(error, "--batching padded: only on the host, with --attention dense, sparse or none and "
                           "--attention-dropout 0, --mpnn gin or "
                           "none, --norm layer or none, --pool mean or sum, --task graph and --pe none");
}

/* Segments have at least one layer; a search for the number of layers begins with fewer. */
static bool check_segments(const struct options *o, const struct config *c, struct message *error)
{
    bool searched = o->largest.kind != LARGEST_NONE && o->largest.axis == AXIS_LAYERS;
    if (searched || checkpoint_segments(c->parts.checkpoint, c->parts.layers) <= c->parts.layers)
        return true;
    return complain(error, "--checkpoint %s --layers %" PRId64 ": more segments than layers",
                    c->parts.checkpoint, c->parts.layers);
}

/* A table that no model of the run takes is a mistake. */
static bool check_taken(const struct options *o, const struct batch_inputs *in, struct message *error)
{
    const struct graph_tables *t = &o->tables;
    bool features = !t->features || graph_table_none(t->features),
         edges = !t->edge_features || graph_table_none(t->edge_features),
         labels = !t->labels || graph_table_none(t->labels);
    for (int64_t i = 0, count = config_count(o); i < count; i++) {
        struct model_config c = config_at(o, i).parts;
        model_take_inputs(&c, in);
        features = features || takes_table(&c.features, &in->features);
        edges = edges || takes_edge_table(&c, in);
        labels = labels || takes_labels(&c, in) || takes_targets(&c, in);
    }
    if (!features)
        return complain(error, "--data features=%.300s: the model (--preset) has other features",
                        t->features);
    if (!edges)
        return complain(
            error,
            "--data edge-features=%.300s: the model (--mpnn, --preset) has no features of edges, or others",
            t->edge_features);
    return labels || complain(error, "--data labels=%.300s: the model (--task, --preset) has no such labels",
                              t->labels);
}

/* A graph file that cannot be read is a usage error; one that is too large for the memory makes rows of its
 * own. */
static bool check_readable(const struct options *o, struct message *error)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    for (int i = 0; i < graphs->count; i++) {
        struct graph_config c = {.family = axis_text(graphs, graphs->values[i]), .nodes = 1, .graphs = 1};
        char reason[MESSAGE_SIZE];
        struct batch b;
        c.limits.memory = (int64_t)options_host_memory(o);
        if (!graph_is_file(c.family))
            continue;
        if (!batch_shape(&b, &c, reason, sizeof reason) && b.peak <= c.limits.memory)
            return complain(error, "--graph %.200s: %.300s", c.family, reason);
        if (b.graphs > 0 && !batch_read_inputs(&b, &c, &o->tables, reason, sizeof reason))
            return complain(error, "--graph %.200s: %.300s", c.family, reason);
        bool taken = b.graphs == 0 || check_taken(o, &b.inputs, error);
        batch_free(&b);
        if (!taken)
            return false;
    }
    return true;
}

/* A row that runs says how many threads it has: as many must run, each where no other has to. */
static bool check_threads(const struct options *o, int threads, struct message *error)
{
    struct team team = affinity_team(threads);
    if (team.threads != threads)
        return complain(
            error,
            "--threads %d: OpenMP runs %d (OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS): allow it more, or "
            "--threads %d",
            threads, team.threads, team.threads);
    return team.processors >= min_of(threads, o->cores) ||
           complain(error,
                    "--threads %d: OpenMP binds them to %d of %d processors (OMP_PROC_BIND): true or spread",
                    threads, team.processors, o->cores);
}

/* An impossible model: names all axes involved. */
static bool say_refused(const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    char pe[80] = "", mlp[64] = "";
    if (p->pe.kind && p->pe.width)
        snprintf(pe, sizeof pe, " --pe %s:%" PRId64 ":%" PRId64, encoding_name((int)p->pe.kind), p->pe.k,
                 p->pe.width);
    else if (p->pe.kind)
        snprintf(pe, sizeof pe, " --pe %s:%" PRId64, encoding_name((int)p->pe.kind), p->pe.k);
    if (p->mlp)
        snprintf(mlp, sizeof mlp, " --mlp %s --dropout %.10g", mlp_name((int)p->mlp), p->dropout);
    return complain(error,
                    "--model %s --attention %s --mpnn %s --heads %" PRId64 " --hidden %" PRId64 "%s%s: %s",
                    models[c->model].name, attention_name((int)p->attention), mpnn_name((int)p->mpnn),
                    p->heads, p->hidden, pe, mlp, model_refuses(p));
}

bool config_check_all(const struct options *o, struct message *error)
{
    int64_t count = config_count(o);
    int checked = 0;
    if (count > AXIS_VALUES_MAX)
        return complain(error, "the axes make more than %d combinations", AXIS_VALUES_MAX);
    for (int64_t i = 0; i < count; i++) {
        struct config c = config_at(o, i);
        if (model_refuses(&c.parts))
            return say_refused(&c, error);
        if (!check_heads(o, &c, error) || !check_batching(o, &c, error) || !check_segments(o, &c, error) ||
            !check_size(o, &c, error))
            return false;
        bool runs = o->action == ACTION_RUN && !o->device.meta;
        if (runs && c.threads != checked && !check_threads(o, c.threads, error))
            return false;
        checked = c.threads;
    }
    return check_readable(o, error);
}
