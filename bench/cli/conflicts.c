#include "bench/cli/conflicts.h"

#include <limits.h>
#include <string.h>

#include "analysis/record/file.h"
#include "bench/base/scratch.h"
#include "bench/base/suggest.h"
#include "bench/cli/config.h"
#include "bench/cli/find.h"
#include "bench/cli/kernels.h"
#include "bench/cli/missing.h"
#include "bench/cli/presets.h"
#include "bench/machine/machine.h"
#include "bench/show/dump.h"

/* Graphs in a batch are small by default. */
static bool default_nodes(struct options *o, struct message *error)
{
    bool batches = o->largest.kind != LARGEST_NONE && o->largest.axis == AXIS_BATCH;
    for (int i = 0; i < o->axes[AXIS_BATCH].count; i++)
        batches = batches || o->axes[AXIS_BATCH].values[i] > 1;
    return !batches || o->given[AXIS_NODES] || axis_parse(AXIS_NODES, "32", &o->axes[AXIS_NODES], error);
}

/* The default solvers to compare are for the benchmark's own sizes, at which all of them finish soon. */
static bool default_solver(struct options *o, struct message *error)
{
    bool own = !o->given[AXIS_NODES] && !o->given[AXIS_GRAPH] && !o->given[AXIS_PE];
    return own || o->given[AXIS_SOLVER] ||
           axis_parse(AXIS_SOLVER, axis_info(AXIS_SOLVER)->standard, &o->axes[AXIS_SOLVER], error);
}

static bool has_own_size(const char *graph)
{
    return graph_is_file(graph) || graph_shape_of(graph);
}

/* Whether all rows have graphs of presets, which are shapes. */
static bool graphs_of_presets(const struct options *o)
{
    const struct axis_values *v = &o->axes[AXIS_PRESET];
    bool all = !o->given[AXIS_GRAPH];
    for (int i = 0; i < v->count; i++)
        all = all && v->values[i] > 0;
    return all;
}

/* A graph with a size of its own must not be measured once per size of the others. */
static bool own_nodes(struct options *o, struct message *error)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH], *nodes = &o->axes[AXIS_NODES];
    const char *own = NULL;
    bool others = false;
    for (int i = 0; i < graphs->count; i++) {
        const char *name = axis_text(graphs, graphs->values[i]);
        bool has = has_own_size(name);
        others = others || !has;
        own = has ? name : own;
    }
    if (o->given[AXIS_NODES])
        return true;
    others = others && !graphs_of_presets(o);
    if (own && others && nodes->count > 1)
        return complain(
            error, "--graph %.300s: needs a run of its own: the other graphs have %d sizes, this has one",
            own, nodes->count);
    return others || axis_parse(AXIS_NODES, "1", &o->axes[AXIS_NODES], error);
}

/* Tables belong to the nodes and edges of one file. */
static bool check_tables(const struct options *o, struct message *error)
{
    const struct graph_tables *t = &o->tables;
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    const char *kind = t->features ? "features" : t->edge_features ? "edge-features" : "labels";
    const char *path = t->features ? t->features : t->edge_features ? t->edge_features : t->labels;
    bool file = graphs->count == 1 && graph_is_file(axis_text(graphs, graphs->values[0]));
    return !path || (file && !o->kernels) ||
           complain(error, "--data %s=%.300s: needs a graph from a file, --graph file:PATH, and no other",
                    kind, path);
}

/* Replay as a graph is the default on a GPU. */
static bool choose_graph(struct options *o, struct message *error)
{
    o->profile = o->profile || o->output.format == FORMAT_CSV_PROFILE;
    bool gpu = o->device.backend->device != NULL;
    o->cuda_graph = gpu && !o->launched;
    return gpu || !o->launched ||
           complain(error, "--no-cuda-graph: not with --device %s, only on a GPU", o->device.name);
}

/* Given ceilings are for programs that do not run; measured ones are compared with their own machine's. */
static bool check_ceilings(struct options *o, struct message *error)
{
    const struct axis_values *threads = &o->axes[AXIS_THREADS];
    if (!o->device.meta && o->ceilings.count + o->links.count > 0)
        return complain(error,
                        "--ceilings: only with --device meta; what runs is compared with its own machine's");
    if (o->ceilings.count == 0)
        return true;
    if (!o->given[AXIS_THREADS])
        given_ceilings_keep_most(&o->ceilings);
    for (int i = 0; i < threads->count && o->given[AXIS_THREADS]; i++)
        if (!given_ceilings_have(&o->ceilings, machine_threads(threads->values[i])))
            return complain(error, "--ceilings: the file has no calibration for --threads %d",
                            machine_threads(threads->values[i]));
    o->profile = o->profile || o->links.count == 0; /* which needs the sum alone */
    return true;
}

/* A trace needs a program that ran. */
static bool check_trace(const struct options *o, struct message *error)
{
    char why[MESSAGE_SIZE];
    if (!o->output.trace || o->action != ACTION_RUN)
        return true;
    if (o->device.meta)
        return complain(error, "--trace: not with --device meta, where nothing runs");
    return file_can_save(o->output.trace, why) || complain(error, "--trace %s", why);
}

/* A preset needs its own encoding, unless another one is given. */
static bool check_preset_solvers(const struct options *o, const char *missing, struct message *error)
{
    const struct axis_values *v = &o->axes[AXIS_PRESET];
    for (int i = 0; i < v->count && missing && !o->given[AXIS_PE]; i++) {
        const struct preset *p = preset_at((int64_t)v->values[i]);
        if (p && encoding_is_spectral(&p->parts.pe))
            return complain(error, "--preset %s: this build has no %s; --pe rwse:K needs none", p->name,
                            missing);
    }
    return true;
}

/* Libraries needed by encodings, unless nothing is computed. */
static bool check_solvers(const struct options *o, struct message *error)
{
    const struct axis_values *solvers = &o->axes[AXIS_SOLVER], *encodings = &o->axes[AXIS_PE];
    const char *missing = eigensolver_missing_library(SOLVER_AUTO);
    if (o->action != ACTION_RUN || o->device.meta)
        return true;
    if (!check_preset_solvers(o, missing, error))
        return false;
    for (int i = 0; i < encodings->count && missing; i++) {
        const char *text = axis_text(encodings, encodings->values[i]);
        struct encoding_config c;
        if (encoding_parse(text, &c) && encoding_is_spectral(&c))
            return complain(error, "--pe %s: this build has no %s; rwse:K needs none", text, missing);
    }
    for (int i = 0; i < solvers->count; i++) {
        enum eigensolver s = (enum eigensolver)solvers->values[i];
        const char *library = eigensolver_missing_library(s);
        if (library && s != SOLVER_AUTO)
            return complain(error, "--solver %s: this build has no %s; auto%s", eigensolver_name(s), library,
                            missing ? " with --pe rwse:K needs none" : " and iterative need none");
    }
    return true;
}

/* The result file is JSON, and only one thing can be on stdout. */
static bool check_output(struct options *o, struct message *error)
{
    const char *file = o->output.file, *end = file ? strrchr(file, '.') : NULL;
    if (end && strcasecmp(end, ".csv") == 0)
        return complain(error,
                        "--output %.300s: result files are JSON, NAME.json; for CSV: --format csv >%.100s",
                        file, file);
    if (!file || strcmp(file, "-") != 0)
        return true;
    if (o->output.format == FORMAT_TABLE)
        o->output.format = FORMAT_JSON;
    return o->output.format == FORMAT_JSON ||
           complain(error, "--output -: is JSON on stdout: not with another --format");
}

static void offer_variants(struct suggestion *s, const struct backend *b, enum op op)
{
    for (; b; b = b->base)
        for (int i = 0; i < b->count; i++)
            if (b->kernels[i].op == op && b->kernels[i].dtype == MODEL_DTYPE)
                suggest_offer(s, b->kernels[i].variant);
}

static bool check_variants(const struct options *o, struct message *error)
{
    char nearest[SUGGESTION_TEXT];
    for (enum op op = 0; op < OPS; op++) {
        const char *variant = o->variant[op];
        if (!variant || backend_kernel(o->device.backend, op, MODEL_DTYPE, variant))
            continue;
        struct suggestion s = {variant, strlen(variant), NULL, 0};
        offer_variants(&s, o->device.backend, op);
        return complain(error, "--impl %s=%.200s: %s has no such variant; see --list ops%s",
                        op_info(op)->name, variant, o->device.backend->name, suggest_text(&s, "", nearest));
    }
    return true;
}

/* An older build may not know the flag. */
static bool check_shard(const struct options *o, struct message *error)
{
    return !o->shard.of || !o->against ||
           complain(error, "--shard %d/%d: not with --against", o->shard.index, o->shard.of);
}

static bool check_lenience(const struct options *o, struct message *error)
{
    const struct lenience *l = &o->lenience;
    return o->baseline || o->against || !(l->allow_uncompared || l->strict) ||
           complain(error, "--gate: only with --baseline or --against");
}

static bool check_dump(const struct options *o, struct message *error)
{
    if (!o->output.dump)
        return true;
    if (config_count(o) != 1)
        return complain(
            error, "--dump %.300s: needs one configuration, but the axes make %lld (give each one value)",
            o->output.dump, (long long)config_count(o));
    if (o->device.all)
        return complain(error, "--dump %.300s: needs one device, but --device is %s", o->output.dump,
                        o->device.given);
    if (o->device.meta || !o->programs[PROGRAM_STEP])
        return complain(error, "--dump %.300s: needs a step that runs, not --device meta or --phase forward",
                        o->output.dump);
    return dump_can_write(o->output.dump, error);
}

static bool needs_step(const struct options *o, enum axis a, const char *value, struct message *error)
{
    return o->programs[PROGRAM_STEP] ||
           complain(error, "--%s %s: only with a training step (--phase step)", axis_info(a)->name, value);
}

/* Inference saves nothing that could be recomputed, and drops nothing. */
static bool check_training(const struct options *o, struct message *error)
{
    static const enum axis dropouts[] = {AXIS_DROPOUT, AXIS_ATTENTION_DROPOUT};
    const struct axis_values *v = &o->axes[AXIS_CHECKPOINT];
    for (int i = 0; i < v->count; i++) {
        const char *text = axis_text(v, v->values[i]);
        if (strcmp(text, "none") != 0 && !needs_step(o, AXIS_CHECKPOINT, text, error))
            return false;
    }
    for (size_t n = 0; n < sizeof dropouts / sizeof *dropouts; n++) {
        v = &o->axes[dropouts[n]];
        for (int i = 0; i < v->count; i++) {
            char text[32];
            snprintf(text, sizeof text, "%.10g", v->values[i]);
            if (v->values[i] > 0 && !needs_step(o, dropouts[n], text, error))
                return false;
        }
    }
    return true;
}

/* Counting under valgrind and --against need a temporary directory. */
static bool check_scratch(const struct options *o, struct message *error)
{
    struct message why;
    char path[PATH_MAX];
    bool counts = o->count != COUNT_OFF && o->count != COUNT_COUNTERS;
    if (o->action != ACTION_RUN || o->device.meta || !(counts || o->against))
        return true;
    if (!scratch_make(path, &why))
        return complain(error, "--%s: %.480s", o->against ? "against" : "count", why.text);
    scratch_remove(path);
    return true;
}

bool conflicts_check(struct options *o, struct message *error)
{
    return default_nodes(o, error) && default_solver(o, error) && find_choose(o, error) &&
           own_nodes(o, error) && check_tables(o, error) && check_variants(o, error) &&
           kernels_choose(o, error) && find_check(o, error) && choose_graph(o, error) &&
           check_ceilings(o, error) && check_trace(o, error) && check_solvers(o, error) &&
           check_shard(o, error) && check_lenience(o, error) && check_output(o, error) &&
           check_dump(o, error) && check_training(o, error) && missing_check(o, error) &&
           check_scratch(o, error);
}
