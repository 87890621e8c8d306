/* Reading the arguments, what one flag makes of another's default, and which do not go together. */
#include "bench/cli/options.h"

#include <errno.h> /* program_invocation_name */
#include <stdlib.h>
#include <string.h>

#include "analysis/record/record.h"
#include "bench/base/suggest.h"
#include "bench/cli/flags.h"
#include "bench/cli/kernels.h"
#include "bench/show/dump.h"

/* `all` is to live as long. */
static struct syntax syntax_of(const struct bench *b, struct flag all[FLAGS_MAX])
{
    static const char *const headings[FLAG_GROUPS + 1] = {
        "Axes: comma lists of values and ranges (100,500  1k-16k*2  2-16+2); every combination is a row.",
        "Where:",
        "What:",
        "Samples:",
        "Output:",
        "Limits:",
        "Gates:",
        "About:"};
    flags_all(b, all);
    return (struct syntax){.name = b->name, .doc = b->doc, .headings = headings, .flags = all};
}

/* The graphs of a batch are small unless their size is given. */
static bool default_nodes(struct options *o, struct message *error)
{
    bool batches = false;
    for (int i = 0; i < o->axes[AXIS_BATCH].count; i++)
        batches = batches || o->axes[AXIS_BATCH].values[i] > 1;
    return !batches || o->given[AXIS_NODES] || axis_parse(AXIS_NODES, "32", &o->axes[AXIS_NODES], error);
}

/* Solvers to compare with are for sizes at which all of them end soon: those of the benchmark itself. */
static bool default_solver(struct options *o, struct message *error)
{
    bool own = !o->given[AXIS_NODES] && !o->given[AXIS_GRAPH] && !o->given[AXIS_PE];
    return own || o->given[AXIS_SOLVER] ||
           axis_parse(AXIS_SOLVER, axis_info(AXIS_SOLVER)->standard, &o->axes[AXIS_SOLVER], error);
}

/* What is read has one size, and is not to be measured once for each size of graphs that are drawn. */
static bool file_nodes(struct options *o, struct message *error)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH], *nodes = &o->axes[AXIS_NODES];
    const char *file = NULL;
    bool drawn = false;
    for (int i = 0; i < graphs->count; i++) {
        const char *name = axis_text(graphs, graphs->values[i]);
        drawn = drawn || !graph_is_file(name);
        file = graph_is_file(name) ? name : file;
    }
    if (o->given[AXIS_NODES])
        return true;
    if (file && drawn && nodes->count > 1)
        return complain(
            error, "--graph %.300s: a run of its own, since the other graphs have %d sizes and this has one",
            file, nodes->count);
    return drawn || axis_parse(AXIS_NODES, "1", &o->axes[AXIS_NODES], error);
}

static bool check_graph(const struct options *o, struct message *error)
{
    if (o->cuda_graph && !o->device.backend->device)
        return complain(error, "--cuda-graph: not with --device %s, only on a GPU", o->device.name);
    return !o->cuda_graph || !(o->profile || o->trace) ||
           complain(error, "--%s: not with --cuda-graph, which has no entries to time",
                    o->profile ? "profile" : "trace");
}

/* A trace is of what ran. */
static bool check_trace(const struct options *o, struct message *error)
{
    char why[MESSAGE_SIZE];
    if (!o->trace || o->action != ACTION_RUN)
        return true;
    if (o->device.meta)
        return complain(error, "--trace: not with --device meta, where nothing runs");
    return record_can_save(o->trace, why) || complain(error, "--trace %s", why);
}

/* The libraries that encodings need, unless nothing is to be solved. */
static bool check_solvers(const struct options *o, struct message *error)
{
    const struct axis_values *solvers = &o->axes[AXIS_SOLVER], *encodings = &o->axes[AXIS_PE];
    const char *missing = eigensolver_missing_library(SOLVER_AUTO);
    if (o->action != ACTION_RUN || o->device.meta)
        return true;
    for (int i = 0; i < encodings->count && missing; i++) {
        const char *text = axis_text(encodings, encodings->values[i]);
        struct encoding_config c;
        if (encoding_parse(text, &c) && (c.kind == ENCODING_LAP || c.kind == ENCODING_LAP_PYG))
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

/* Only what runs needs the device itself. */
static bool open_device(struct options *o, struct message *error)
{
    return o->action != ACTION_RUN || device_open(&o->device, error);
}

static void offer_variants(struct suggestion *s, const struct backend *b, enum op op)
{
    for (; b; b = b->base)
        for (int i = 0; i < b->count; i++)
            if (b->kernels[i].op == op && b->kernels[i].dtype == F32)
                suggest_offer(s, b->kernels[i].variant);
}

static bool check_variants(const struct options *o, struct message *error)
{
    char nearest[SUGGESTION_TEXT];
    for (enum op op = 0; op < OPS; op++) {
        const char *variant = o->variant[op];
        if (!variant || backend_kernel(o->device.backend, op, F32, variant))
            continue;
        struct suggestion s = {variant, strlen(variant), NULL, 0};
        offer_variants(&s, o->device.backend, op);
        return complain(error, "--impl %s=%.200s: %s has no such variant; see --list-ops%s",
                        op_info(op)->name, variant, o->device.backend->name, suggest_text(&s, "", nearest));
    }
    return true;
}

const char *bench_values(const struct bench *b, enum axis a)
{
    return a == b->axis ? b->values : b->also[a] ? b->also[a] : axis_info(a)->standard;
}

bool options_parse(const struct bench *b, int argc, char **argv, struct options *o, struct message *error)
{
    *o = (struct options){.bench = b,
                          .device = {.name = "cpu", .backend = backend_cpu(), .count = 1},
                          .profile = b->whole,
                          .warmup = -1,
                          .min_samples = 10,
                          .cold = -1,
                          .budget = b->budget > 0 ? b->budget : 60,
                          .max_noise = 0.02,
                          .seed = 42,
                          .count = COUNT_OFF,
                          .roofline = true,
                          .check = true,
                          .charts = true,
                          .model_nodes = b->model_nodes,
                          .check_budget = 5,
                          .programs = {!b->kernels && !b->steps, !b->kernels, b->kernels}};
    for (enum axis a = 0; a < AXES; a++)
        if (!axis_parse(a, bench_values(b, a), &o->axes[a], error))
            return false;
    struct flag all[FLAGS_MAX];
    struct syntax s = syntax_of(b, all);
    return syntax_read(&s, o, argc, argv, error) >= 0 && default_nodes(o, error) &&
           default_solver(o, error) && largest_possible(o, error) && file_nodes(o, error) &&
           check_variants(o, error) && kernels_choose(o, error) && check_graph(o, error) &&
           check_trace(o, error) && check_solvers(o, error) && dump_possible(o, error) &&
           open_device(o, error);
}

void options_help(const struct bench *b, FILE *out)
{
    struct flag all[FLAGS_MAX];
    struct syntax s = syntax_of(b, all);
    syntax_help(&s, out);
    fprintf(out,
            "Examples: the default sweep; some sizes, closely; FLOPs and memory of any size, nothing runs\n"
            "  %1$s\n"
            "  %1$s --nodes '1k-4k*2' %2$s\n"
            "  %1$s --device meta --nodes '100-1M*10'\n"
            "Exit status: 0 all rows good, 1 a row failed or missed a gate, 2 the command line is wrong,\n"
            "130 or 143 after SIGINT or SIGTERM.\n",
            program_invocation_name, b->kernels ? "--op linear,attention" : "--phase step --profile");
}

void options_free(struct options *o)
{
    device_close(&o->device);
    json_decref(o->baseline);
    free(o->kernels);
    free(o->largest.nodes);
    for (enum axis a = 0; a < AXES; a++)
        axis_values_free(&o->axes[a]);
}
