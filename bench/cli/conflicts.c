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

/* Ceilings from a file are those of some numbers of threads. */
static bool check_ceilings(struct options *o, struct message *error)
{
    const struct axis_values *threads = &o->axes[AXIS_THREADS];
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

/* The result file has JSON lines, and only one thing can be on stdout. */
static bool check_output(struct options *o, struct message *error)
{
    const char *file = o->output.file, *end = file ? strrchr(file, '.') : NULL;
    if (end && strcasecmp(end, ".csv") == 0)
        return complain(
            error, "--output %.300s: result files are JSON lines, NAME.jsonl; for CSV: --format csv >%.100s",
            file, file);
    if (!file || strcmp(file, "-") != 0)
        return true;
    if (o->output.format == FORMAT_TABLE)
        o->output.format = FORMAT_JSON;
    return true;
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

/* Whether training differs from inference by the values of an axis. */
static bool is_used(const struct options *o, enum axis a)
{
    const struct axis_values *v = &o->axes[a];
    bool text = axis_info(a)->kind == AXIS_TEXT, used = false;
    for (int i = 0; i < v->count; i++)
        used = used || (text ? strcmp(axis_text(v, v->values[i]), "none") != 0 : v->values[i] > 0);
    return used;
}

/* Flags that mean nothing beside others. */
static bool check_together(struct options *o, struct message *error)
{
    const struct output_options *out = &o->output;
    bool gpu = o->device.backend->device != NULL, step = o->programs[PROGRAM_STEP], meta = o->device.meta;
    const struct refusal refusals[] = {
        {o->launched && !gpu, "--no-cuda-graph: only on a GPU, not with this --device"},
        {!meta && o->ceilings.count + o->links.count > 0,
         "--ceilings: only with --device meta; what runs is compared with its own machine's"},
        {out->trace && o->action == ACTION_RUN && meta,
         "--trace: not with --device meta, where nothing runs"},
        {o->shard.of && o->against, "--shard: not with --against"},
        {!o->baseline && !o->against && (o->lenience.allow_uncompared || o->lenience.strict),
         "--gate: only with --baseline or --against"},
        {out->file && strcmp(out->file, "-") == 0 && out->format != FORMAT_JSON,
         "--output -: is JSON on stdout: not with another --format"},
        {out->dump && config_count(o) != 1,
         "--dump: needs one configuration, but the axes make several (give each one value)"},
        {out->dump && o->device.all, "--dump: needs one device, not --device cuda:all"},
        {out->dump && (meta || !step),
         "--dump: needs a step that runs, not --device meta or --phase forward"},
        {!step && is_used(o, AXIS_CHECKPOINT), "--checkpoint: only with a training step (--phase step)"},
        {!step && is_used(o, AXIS_DROPOUT), "--dropout: only with a training step (--phase step)"},
        {!step && is_used(o, AXIS_ATTENTION_DROPOUT),
         "--attention-dropout: only with a training step (--phase step)"},
    };
    o->profile = o->profile || out->format == FORMAT_CSV_PROFILE;
    o->cuda_graph = gpu && !o->launched; /* the default there */
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

/* What is written beside the result file. */
static bool check_files(const struct options *o, struct message *error)
{
    char why[MESSAGE_SIZE];
    if (o->output.trace && o->action == ACTION_RUN && !file_can_save(o->output.trace, why))
        return complain(error, "--trace %s", why);
    return !o->output.dump || dump_can_write(o->output.dump, error);
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
           kernels_choose(o, error) && find_check(o, error) && check_output(o, error) &&
           check_together(o, error) && check_ceilings(o, error) && check_solvers(o, error) &&
           check_files(o, error) && missing_check(o, error) && check_scratch(o, error);
}
