#include "bench/cli/command_line.h"

#include <errno.h> /* program_invocation_name */
#include <string.h>

#include "bench/cli/flags.h"
#include "bench/cli/plan.h"
#include "bench/cli/plugin.h"
#include "bench/machine/machine.h"

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

/* Reads the flags, each by itself. */
static bool read_flags(struct syntax *s, struct options *o, int argc, char **argv, struct message *error)
{
    bool good = syntax_read(s, o, argc, argv, error) >= 0;
    if (good && o->device.meta && o->plan_for == PLAN_FOR_CUDA)
        device_plan_for_gpu(&o->device);
    return good;
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
    for (enum axis a = 0; a < AXES; a++)
        if (!axis_parse(a, bench_values(b, a), &o->axes[a], error))
            return false;
    struct flag all[FLAGS_MAX];
    struct syntax s = syntax_of(b, all);
    return read_flags(&s, o, argc, argv, error) && plugin_attach(o, error) && flags_are_possible(o, error) &&
           defaults_set(o, error) && plan(o, error) &&
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
