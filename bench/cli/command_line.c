#include "bench/cli/command_line.h"

#include <errno.h> /* program_invocation_name */
#include <string.h>

#include "bench/cli/conflicts.h"
#include "bench/cli/flags.h"
#include "bench/machine/machine.h"

/* `all` must outlive the result. */
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
    static const struct gone gone[] = {
        {"interleave", "a sweep always goes over its rows in turns (--turns)"},
        {"max-noise", "a sweep takes a fixed number of turns (--turns), within --budget"},
        {"find-max-nodes", "--find-max nodes=LIMIT finds the largest value of this and of three other axes"},
        {"min-samples", "a sweep takes a fixed number of turns (--turns), within --budget"},
        {NULL, NULL}};
    flags_all(b, all);
    return (struct syntax){.name = b->name, .doc = b->doc, .headings = headings, .flags = all, .gone = gone};
}

bool options_parse(const struct bench *b, int argc, char **argv, struct options *o, struct message *error)
{
    *o = (struct options){
        .cores = machine_cores(),
        .bench = b,
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
    return syntax_read(&s, o, argc, argv, error) >= 0 && conflicts_check(o, error) &&
           (o->action != ACTION_RUN || (o->against ? device_check : device_open)(&o->device, error));
}

/* The flags of --help: the benchmark's own axes first, then those that most people need. */
static void main_flags(const struct bench *b, const char *names[FLAGS_MAX])
{
    static const char *const programs[] = {"nodes",  "model",   "layers",   "hidden",  "batch",   "threads",
                                           "device", "phase",   "budget",   "profile", "columns", "format",
                                           "output", "dry-run", "help-all", NULL};
    static const char *const kernels[] = {"op",     "impl",   "nodes",   "hidden",      "threads",
                                          "device", "budget", "cold",    "no-roofline", "columns",
                                          "format", "output", "dry-run", "help-all",    NULL};
    static const char *const whole[] = {
        "nodes",  "model",  "layers", "hidden",   "batch",           "threads", "device",   "phase",
        "budget", "format", "output", "ceilings", "flop-convention", "dry-run", "help-all", NULL};
    const char *const *usual = b->kernels ? kernels : b->whole ? whole : programs;
    int n = 0;
    if (!b->kernels)
        names[n++] = axis_info(b->axis)->name;
    for (enum axis a = 0; a < AXES; a++)
        if (b->also[a])
            names[n++] = axis_info(a)->name;
    for (int own = n; *usual; usual++) {
        int i = 0;
        while (i < own && strcmp(names[i], *usual) != 0)
            i++;
        if (i == own)
            names[n++] = *usual;
    }
    names[n] = NULL;
}

void options_help(const struct bench *b, bool all, FILE *out)
{
    struct flag flags[FLAGS_MAX];
    const char *names[FLAGS_MAX];
    struct syntax s = syntax_of(b, flags);
    main_flags(b, names);
    s.main = names;
    syntax_help(&s, all, out);
    if (!all)
        fputs("LIST: values and ranges, 100,500  1k-16k*2  2-16+2; every combination is a row.\n", out);
    if (b->whole)
        fprintf(
            out,
            "Examples: the default; a model that recomputes activations; another machine, without running\n"
            "  %1$s\n"
            "  %1$s --nodes 2000 --layers 16 --checkpoint layer\n"
            "  %1$s --device meta --ceilings peak=19TFLOP/s,dram=900GB/s\n",
            program_invocation_name);
    else if (b->axis == AXIS_PRESET)
        fprintf(out,
                "Examples: the default; a model that differs in width; every model, planned only\n"
                "  %1$s\n"
                "  %1$s --preset zinc --hidden 64,128\n"
                "  %1$s --preset all --device meta\n",
                program_invocation_name);
    else
        fprintf(out,
                "Examples: the default sweep; some sizes in detail; FLOPs and memory of any size, without "
                "running\n"
                "  %1$s\n"
                "  %1$s --nodes '1k-4k*2' %2$s\n"
                "  %1$s --device meta --nodes '100-1M*10'\n",
                program_invocation_name, b->kernels ? "--op linear,attention" : "--phase step --profile");
    fputs("Exit status: 0 all rows good, 1 a row failed or missed a gate, 2 the command line is wrong,\n"
          "128 and its number after SIGHUP, SIGINT, SIGQUIT or SIGTERM.\n",
          out);
}
