#include <limits.h>
#include <string.h>

#include "analysis/record/file.h"
#include "bench/base/child.h"
#include "bench/base/suggest.h"
#include "bench/cli/command_line.h"
#include "bench/cli/flags.h"
#include "bench/machine/machine.h"
#include "bench/show/dump.h"
#include "models/layers/features.h"

/* What is searched for is known only later, and an older build may not know the flag. */
static bool check_find(const struct options *o, struct message *error)
{
    const struct largest *l = &o->largest;
    bool largest = l->kind != LARGEST_NONE, free = l->kind == LARGEST_MEMORY && l->limit <= 0;
    const char *axis = find_axis(o) < AXES ? axis_info(find_axis(o))->name : "";
    if (!largest && !o->crossover.kind)
        return true;
    if (free && !o->device.backend->device && options_host_memory(o) >= MACHINE_MEMORY_UNKNOWN)
        return complain(error,
                        "--find %s=memory: how much is free is not known here: %s=memory:4GiB or --mem-limit",
                        axis, axis);
    if (*axis && o->given[find_axis(o)])
        return complain(error, "--find: not with --%s", axis);
    const struct refusal refusals[] = {
        {o->output.resume, "--find: not with --resume"},
        {o->against, "--find: not with --against"},
        {o->shard.of, "--find: not with --shard"},
        {!largest && o->output.dump, "--find: not with --dump"},
        {largest && o->action == ACTION_DRY_RUN, "--find: not with --dry-run"},
        {o->action == ACTION_LIST_TAPE, "--find: not with --list tape"},
        {o->device.all, "--find: not with --device cuda:all: one device"},
        {o->model_nodes, "--find: needs --phase in this benchmark, which otherwise runs encodings only"},
        {l->kind == LARGEST_LATENCY && o->device.meta && o->peaks.count == 0,
         "--find: with latency and --device meta, where nothing runs, only with --peaks"},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

static void offer_variants(struct suggestion *s, const struct backend *b, struct form f, enum dtype dtype)
{
    for (; b; b = b->base)
        for (int i = 0; i < b->count; i++)
            if (b->kernels[i].op == f.op && b->kernels[i].dtype == dtype &&
                kernel_supports(&b->kernels[i], f.options))
                suggest_offer(s, b->kernels[i].variant);
}

static bool check_variants_in(const struct options *o, enum dtype dtype, struct message *error)
{
    char nearest[SUGGESTION_TEXT];
    for (int i = 0; form_at(i).op < OPS; i++) {
        struct form f = form_at(i);
        const char *variant = o->variant[f.op][f.options];
        if (!variant || backend_form_kernel(o->device.backend, f.op, f.options, dtype, variant))
            continue;
        struct suggestion s = {variant, strlen(variant), NULL, 0};
        offer_variants(&s, o->device.backend, f, dtype);
        return complain(error, "--impl %s=%.200s: %s has no such variant in %s; see --list ops%s",
                        form_name(f), variant, o->device.backend->name, dtype_name(dtype),
                        suggest_text(&s, "", nearest));
    }
    return true;
}

static bool check_variants(const struct options *o, struct message *error)
{
    const struct axis_values *v = &o->axes[AXIS_PRECISION];
    bool good = true;
    for (int i = 0; i < v->count && good; i++)
        good = check_variants_in(o, precision_dtype((enum precision)v->values[i]), error);
    return good;
}

static bool check_output(const struct options *o, struct message *error)
{
    const char *file = o->output.file, *end = file ? strrchr(file, '.') : NULL;
    return !end || strcasecmp(end, ".csv") != 0 ||
           complain(error,
                    "--output %.300s: result files are JSON lines, NAME.jsonl; for CSV: --format csv >%.100s",
                    file, file);
}

/* Tables belong to the nodes and edges of one file. */
static bool check_tables(const struct options *o, struct message *error)
{
    const struct graph_tables *t = &o->tables;
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    const char *kind = t->features ? "features" : t->edge_features ? "edge-features" : "labels";
    const char *path = t->features ? t->features : t->edge_features ? t->edge_features : t->labels;
    bool file = graphs->count == 1 && graph_is_file(axis_text(graphs, graphs->values[0]));
    return !path || (file && !o->bench->kernels) ||
           complain(error, "--data %s=%.300s: needs a graph from a file, --graph file:PATH, and no other",
                    kind, path);
}

static bool check_combinations(const struct options *o, struct message *error)
{
    const struct output_options *out = &o->output;
    bool gated = o->baseline || o->against || o->gates.count || o->largest.kind == LARGEST_LATENCY;
    bool step = o->programs[PROGRAM_STEP], meta = o->device.meta;
    bool json = out->format == FORMAT_TABLE || out->format == FORMAT_JSON;
    const struct refusal refusals[] = {
        {o->plan_for == PLAN_FOR_CUDA && !meta, "--plan-for: only with --device meta"},
        {o->launched && !o->device.backend->device, "--no-cuda-graph: only on a GPU, not with this --device"},
        {o->sampling.energy == ENERGY_NO && !o->device.backend->device,
         "--energy no: only on a GPU, not with this --device"},
        {o->sampling.energy == ENERGY_ALL && !o->device.backend->device,
         "--energy all: only on a GPU, not with this --device"},
        {!meta && (o->links.count > 0 || (o->peaks.count > 0 && !o->device.backend->device)),
         "--peaks: only with --device meta or a GPU; what else runs is compared with its own machine's"},
        {out->trace && o->action == ACTION_RUN && meta,
         "--trace: not with --device meta, where nothing runs"},
        {o->shard.of && o->against, "--shard: not with --against"},
        {!o->baseline && !o->against && o->lenience.allow_uncompared,
         "--gate allow-uncompared: only with --baseline or --against"},
        {!gated && (o->lenience.allow_unchecked || o->lenience.strict),
         "--gate: only with --threshold, --baseline, --against or --find of a latency"},
        {o->lenience.exact && !o->baseline, "--gate exact: only with --baseline"},
        {o->lenience.exact && o->lenience.strict, "--gate exact: nothing is inconclusive; not with strict"},
        {out->file && strcmp(out->file, "-") == 0 && !json,
         "--output -: is JSON on stdout: not with another --format"},
        {out->dump && o->device.all, "--dump: needs one device, not --device cuda:all"},
        {out->dump && (meta || !step),
         "--dump: needs a step that runs, not --device meta or --phase forward"},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

/* Peak rates from a file are those of some numbers of threads. */
static bool check_peaks(const struct options *o, struct message *error)
{
    const struct axis_values *threads = &o->axes[AXIS_THREADS];
    for (int i = 0; i < threads->count && o->peaks.count && o->given[AXIS_THREADS]; i++)
        if (!given_peaks_have(&o->peaks, machine_threads(threads->values[i])))
            return complain(error, "--peaks: the file has no calibration for --threads %d",
                            machine_threads(threads->values[i]));
    return true;
}

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

bool flags_are_possible(const struct options *o, struct message *error)
{
    static bool (*const checks[])(const struct options *, struct message *) = {
        check_find,         check_tables, check_variants, check_output,
        check_combinations, check_peaks,  check_files,    check_scratch};
    bool good = true;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && good; i++)
        good = checks[i](o, error);
    return good;
}

/* A table that no model of the run takes is a mistake. */
static bool check_taken(const struct options *o, const struct batch_inputs *in, struct message *error)
{
    const struct graph_tables *t = &o->tables;
    bool features = !t->features || graph_table_none(t->features),
         edges = !t->edge_features || graph_table_none(t->edge_features),
         labels = !t->labels || graph_table_none(t->labels);
    for (int64_t i = 0; i < o->plan.count; i++) {
        struct model_config c = o->plan.list[i].parts;
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

/* A graph file that cannot be read is a usage error; one too large for the memory makes rows of its own. */
bool files_are_readable(const struct options *o, struct message *error)
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
