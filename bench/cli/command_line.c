#include "bench/cli/command_line.h"

#include <errno.h> /* program_invocation_name */
#include <stdlib.h>
#include <string.h>

#include "bench/cli/flags.h"
#include "bench/cli/plan.h"
#include "bench/machine/machine.h"
#include "kernels/ranks.h"

/* --- defaults that depend on other flags, once all are read */

static void replace(struct options *o, enum axis a, const char *text)
{
    struct message error;
    if (!axis_parse(a, text, &o->axes[a], &error))
        abort();
}

/* Graphs in a batch are small by default. */
static void default_nodes(struct options *o)
{
    bool batches = o->largest.kind != LARGEST_NONE && o->largest.axis == AXIS_BATCH;
    for (int i = 0; i < o->axes[AXIS_BATCH].count; i++)
        batches = batches || o->axes[AXIS_BATCH].values[i] > 1;
    if (batches && !o->given[AXIS_NODES])
        replace(o, AXIS_NODES, "32");
}

/* The default solvers to compare are for the benchmark's own sizes, at which all of them finish soon. */
static void default_solver(struct options *o)
{
    bool own = !o->given[AXIS_NODES] && !o->given[AXIS_GRAPH] && !o->given[AXIS_PE];
    if (!own && !o->given[AXIS_SOLVER])
        replace(o, AXIS_SOLVER, axis_info(AXIS_SOLVER)->standard);
}

/* A benchmark over the ranks has 1, 2, 4 and so on of those that were started. */
static void default_ranks(struct options *o)
{
    char all[32];
    if (!o->world || o->bench->axis != AXIS_RANKS || o->given[AXIS_RANKS])
        return;
    snprintf(all, sizeof all, "1-%d*2", o->world->count);
    replace(o, AXIS_RANKS, all);
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
static void own_nodes(struct options *o)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    bool others = false;
    for (int i = 0; i < graphs->count; i++)
        others = others || !graph_has_size(axis_text(graphs, graphs->values[i]));
    if (!o->given[AXIS_NODES] && (!others || graphs_of_presets(o)))
        replace(o, AXIS_NODES, "1");
}

/* Peak rates from a file are those of some numbers of threads. */
static void default_peaks(struct options *o)
{
    if (o->peaks.count == 0)
        return;
    if (!o->given[AXIS_THREADS])
        given_peaks_keep_largest(&o->peaks);
    if (!o->device.meta)
        return;
    o->summed = !o->profile && o->links.count == 0;
    o->profile = o->profile || o->summed;
}

static bool defaults_set(struct options *o, struct message *error)
{
    bool to_stdout = o->output.file && strcmp(o->output.file, "-") == 0;
    enum axis own = o->bench->axis;
    if (o->device.backend->device && o->bench->gpu_values && !o->given[own])
        replace(o, own, o->bench->gpu_values);
    default_nodes(o);
    default_solver(o);
    default_ranks(o);
    if (!find_choose(o, error) || !kernels_choose(o, error))
        return false;
    own_nodes(o);
    find_over(o);
    default_peaks(o);
    if (to_stdout && o->output.format == FORMAT_TABLE)
        o->output.format = FORMAT_JSON;
    o->profile = o->profile || o->output.format == FORMAT_CSV_PROFILE;
    o->cuda_graph = o->device.backend->device && !o->launched;
    return true;
}

/* `all` must outlive the result. */
static struct syntax syntax_of(const struct bench *b, struct flag all[FLAGS_MAX])
{
    static const char *const headings[FLAG_GROUPS + 1] = {
        "Main: LIST is values and ranges (100,500  1k-16k*2  2-16+2); every combination is a row.",
        "Other axes:",
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

static bool plan(struct options *o, struct message *error)
{
    if (o->action != ACTION_RUN && o->action != ACTION_DRY_RUN && o->action != ACTION_LIST_TAPE)
        return true;
    plan_make(o);
    return plan_is_possible(o, error);
}

bool options_parse(const struct bench *b, const struct ranks *world, int argc, char **argv, struct options *o,
                   struct message *error)
{
    *o = (struct options){
        .cores = machine_cores(),
        .threads = machine_threads(0),
        .bench = b,
        .world = world,
        .device = {.name = "cpu", .backend = backend_cpu(), .count = 1},
        .profile = b->whole,
        .sampling = {.warmup = -1, .turns = 10, .cold = -1, .budget = b->budget > 0 ? b->budget : 60},
        .seed = 42,
        .count = COUNT_OFF,
        .roofline = true,
        .check = {.wanted = true, .budget = 5},
        .output = {.charts = true},
        .model_nodes = b->model_nodes,
        .programs = {!b->kernels && !b->steps, !b->kernels, b->kernels}};
    if (!machine_isa_exists(error))
        return false;
    for (enum axis a = 0; a < AXES; a++)
        if (!axis_parse(a, bench_values(b, a), &o->axes[a], error))
            return false;
    struct flag all[FLAGS_MAX];
    struct syntax s = syntax_of(b, all);
    if (syntax_read(&s, o, argc, argv, error) < 0)
        return false;
    if (o->device.meta && o->plan_for == PLAN_FOR_CUDA)
        device_plan_for_gpu(&o->device);
    return plugin_attach(o, error) && flags_are_possible(o, error) && defaults_set(o, error) &&
           plan(o, error) &&
           (o->action != ACTION_RUN || (o->against ? device_check : device_open)(&o->device, error));
}

/* What the examples are, and the arguments of the second and the third. */
static const char *const *examples_of(const struct bench *b)
{
    static const char *const whole[] = {
        "the default; a model that recomputes activations; another machine, without running",
        "--nodes 2000 --layers 16 --checkpoint layer", "--device meta --peaks peak=19TFLOP/s,dram=900GB/s"};
    static const char *const presets[] = {
        "the default; a model of other hidden sizes; every model, planned only",
        "--preset zinc --hidden 64,128", "--preset all --device meta"};
    static const char *const sweeps[][3] = {
        {"the default sweep; some sizes in detail; FLOPs and memory of any size, without running",
         "--nodes '1k-4k*2' --phase step --profile", "--device meta --nodes '100-1M*10'"},
        {"the default sweep; some ops in detail; FLOPs and memory of any size, without running",
         "--nodes '1k-4k*2' --op linear,attention", "--device meta --nodes '100-1M*10'"}};
    return b->whole ? whole : b->axis == AXIS_PRESET ? presets : sweeps[b->kernels];
}

void options_help(const struct bench *b, FILE *out)
{
    struct flag flags[FLAGS_MAX];
    const char *const *example = examples_of(b);
    struct syntax s = syntax_of(b, flags);
    syntax_help(&s, out);
    fprintf(out, "Examples: %2$s\n  %1$s\n  %1$s %3$s\n  %1$s %4$s\n", program_invocation_name, example[0],
            example[1], example[2]);
    fputs("Exit status: 0 all rows good, 1 a row failed or missed a gate, 2 the command line is wrong,\n"
          "128 and its number after SIGHUP, SIGINT, SIGQUIT or SIGTERM.\n",
          out);
}
