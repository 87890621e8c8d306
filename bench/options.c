/*
 * The table of flags. Each flag has a reader that takes the value or says what is allowed; an axis is a flag
 * whose reader is the axis' own.
 */
#include "bench/options.h"

#include <stdlib.h>
#include <string.h>

#include "bench/dump.h"

struct flag {
    const char *name, *argument; /* argument null: the flag stands alone */
    const char *help;
    bool (*read)(struct options *o, const char *value, struct message *error);
};

static bool read_device(struct options *o, const char *value, struct message *error)
{
    return device_parse(value, &o->device, error);
}

static bool read_cuda_graph(struct options *o, const char *value, struct message *error)
{
    (void)value, (void)error;
    return o->cuda_graph = true;
}

static bool read_impl(struct options *o, const char *value, struct message *error)
{
    const char *equals = strchr(value, '=');
    char name[64] = "";
    if (equals && (size_t)(equals - value) < sizeof name)
        memcpy(name, value, (size_t)(equals - value));
    enum op op = op_named(name);
    if (op == OPS)
        return complain(error, "--impl %s: OP=VARIANT, as in --list-ops", value);
    o->variant[op] = equals + 1;
    return true;
}

static bool read_phase(struct options *o, const char *value, struct message *error)
{
    memset(o->programs, 0, sizeof o->programs);
    char *copy = strdup(value), *next = copy;
    bool good = copy && *value;
    for (char *item; good && (item = strsep(&next, ",")) != NULL;) {
        good = false;
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            if (strcmp(item, program_name(p)) == 0)
                good = o->programs[p] = true;
    }
    free(copy);
    return good || complain(error, "--phase %s: forward, step or forward,step", value);
}

static bool read_count(const char *flag, const char *value, double min, double max, int *out,
                       struct message *error)
{
    double number;
    if (!parse_number(value, true, min, max, &number))
        return complain(error, "--%s %s: a whole number from %.0f to %.0f", flag, value, min, max);
    *out = (int)number;
    return true;
}

static bool read_warmup(struct options *o, const char *value, struct message *error)
{
    return read_count("warmup", value, 0, 1e6, &o->warmup, error);
}

static bool read_runs(struct options *o, const char *value, struct message *error)
{
    return read_count("runs", value, 1, 1e6, &o->runs, error);
}

static bool read_min_samples(struct options *o, const char *value, struct message *error)
{
    return read_count("min-samples", value, 1, 1e6, &o->min_samples, error);
}

static bool read_budget(struct options *o, const char *value, struct message *error)
{
    return parse_number(value, false, 0, 1e6, &o->budget) ||
           complain(error, "--budget %s: seconds for the whole sweep, from 0 to 1000000", value);
}

static bool read_max_noise(struct options *o, const char *value, struct message *error)
{
    return parse_number(value, false, 0, 1, &o->max_noise) ||
           complain(error, "--max-noise %s: a share of the median, from 0 to 1", value);
}

static bool read_check_budget(struct options *o, const char *value, struct message *error)
{
    return parse_number(value, false, 0, 1e6, &o->check_budget) ||
           complain(error, "--check-budget %s: seconds, from 0 to 1000000", value);
}

static bool read_no_check(struct options *o, const char *value, struct message *error)
{
    (void)value, (void)error;
    o->check = false;
    return true;
}

static bool read_count_mode(struct options *o, const char *value, struct message *error)
{
    static const char *const names[] = {"auto", "counters", "valgrind", "off"};
    for (enum count_mode m = COUNT_AUTO; m <= COUNT_OFF; m++)
        if (strcmp(value, names[m]) == 0) {
            o->count = m;
            return true;
        }
    return complain(error, "--count %s: auto, counters, valgrind or off", value);
}

static bool read_calibrate(struct options *o, const char *value, struct message *error)
{
    (void)value, (void)error;
    return o->calibrate = o->roofline = true;
}

static bool read_no_roofline(struct options *o, const char *value, struct message *error)
{
    (void)value, (void)error;
    o->roofline = false;
    return true;
}

static bool read_interleave(struct options *o, const char *value, struct message *error)
{
    (void)value, (void)error;
    return o->interleave = true;
}

static bool read_mem_limit(struct options *o, const char *value, struct message *error)
{
    static const struct {
        const char *suffix;
        double bytes;
    } units[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"B", 1}};
    size_t length = strlen(value);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t suffix = strlen(units[i].suffix);
        char number[32] = "";
        if (length <= suffix || length - suffix >= sizeof number ||
            strcmp(value + length - suffix, units[i].suffix))
            continue;
        memcpy(number, value, length - suffix);
        if (parse_number(number, false, 1e-3, 1e15, &o->mem_limit)) {
            o->mem_limit *= units[i].bytes;
            return true;
        }
    }
    return complain(error, "--mem-limit %s: a number with B, KiB, MiB, GiB or TiB, as in 8GiB", value);
}

static bool read_seed(struct options *o, const char *value, struct message *error)
{
    double seed;
    if (!parse_number(value, true, 0, 0x1p53 - 1, &seed))
        return complain(error, "--seed %s: a whole number from 0 to 2^53 - 1", value);
    o->seed = (uint64_t)seed;
    return true;
}

static bool read_format(struct options *o, const char *value, struct message *error)
{
    static const char *const names[] = {"table", "md", "csv", "json"};
    for (enum format f = FORMAT_TABLE; f <= FORMAT_JSON; f++)
        if (strcmp(value, names[f]) == 0) {
            o->format = f;
            return true;
        }
    return complain(error, "--format %s: table, md, csv or json", value);
}

static bool read_output(struct options *o, const char *value, struct message *error)
{
    o->output = value;
    return *value || complain(error, "--output: needs the name of a file");
}

static bool read_dump(struct options *o, const char *value, struct message *error)
{
    o->dump = value;
    return *value || complain(error, "--dump: needs the name of a directory");
}

static bool read_profile(struct options *o, const char *value, struct message *error)
{
    (void)value, (void)error;
    return o->profile = true;
}

#define ACTION_READER(name, value_of)                                                                        \
    static bool name(struct options *o, const char *value, struct message *error)                            \
    {                                                                                                        \
        (void)value, (void)error;                                                                            \
        o->action = value_of;                                                                                \
        return true;                                                                                         \
    }
ACTION_READER(read_list_tape, ACTION_LIST_TAPE)
ACTION_READER(read_help, ACTION_HELP)
ACTION_READER(read_version, ACTION_VERSION)
ACTION_READER(read_list_models, ACTION_LIST_MODELS)
ACTION_READER(read_list_ops, ACTION_LIST_OPS)
ACTION_READER(read_list_devices, ACTION_LIST_DEVICES)

static const struct flag flags[] = {
    {"device", "NAME", "cpu; cuda or cuda:N; ref: the scalar reference; meta: plan only, any size",
     read_device},
    {"cuda-graph", NULL, "on a GPU: replay the program as one graph (no times of phases)", read_cuda_graph},
    {"impl", "OP=VARIANT", "kernel of an op (--list-ops)", read_impl},
    {"phase", "LIST", "programs to time: forward, step (default: both)", read_phase},
    {"profile", NULL, "where the time goes: per op, per layer, per phase", read_profile},
    {"list-tape", NULL, "print what would run, entry by entry, and stop", read_list_tape},
    {"warmup", "N", "runs before the first sample (default: for 0.1 s, at least one)", read_warmup},
    {"runs", "N", "samples of each program (default: by noise and budget)", read_runs},
    {"min-samples", "N", "fewest samples before noise can end sampling (default 10)", read_min_samples},
    {"max-noise", "SHARE", "enough when the median's interval is this narrow (default 0.02)", read_max_noise},
    {"budget", "SECONDS", "time for the whole sweep, shared by its rows (default 60)", read_budget},
    {"count", "HOW", "executed FLOPs: auto, counters, valgrind (slow; up to 3 GFLOP) or off (default)",
     read_count_mode},
    {"calibrate", NULL, "measure the machine's ceilings anew (else once, kept beside the results)",
     read_calibrate},
    {"no-roofline", NULL, "do not measure or use the machine's ceilings", read_no_roofline},
    {"interleave", NULL, "sample all rows in random turns: slow drifts of the machine then hit all alike",
     read_interleave},
    {"check-budget", "SECONDS",
     "check whole programs that the oracle does in this time, others by rows (default 5)", read_check_budget},
    {"no-check", NULL, "do not check the results", read_no_check},
    {"mem-limit", "SIZE", "rows that need more are not run (default: what is free)", read_mem_limit},
    {"seed", "N", "of graphs, inputs and parameters (default 42)", read_seed},
    {"format", "NAME", "on stdout: table, md, csv, json (default table)", read_format},
    {"output", "FILE", "result file, JSON (default results/local/BINARY.json, charts beside it)",
     read_output},
    {"dump", "DIR", "write a step's inputs, parameters, results and gradients there, as .npy", read_dump},
    {"list-devices", NULL, "processors and GPUs", read_list_devices},
    {"list-models", NULL, "models and what they are", read_list_models},
    {"list-ops", NULL, "ops, their mathematics, FLOPs and variants", read_list_ops},
    {"version", NULL, "version and how this was built", read_version},
    {"help", NULL, "this text", read_help},
};

enum { FLAGS = sizeof flags / sizeof *flags };

static const struct flag *flag_named(const char *name, size_t length)
{
    for (int i = 0; i < FLAGS; i++)
        if (strlen(flags[i].name) == length && strncmp(flags[i].name, name, length) == 0)
            return &flags[i];
    return NULL;
}

static enum axis axis_named(const char *name, size_t length)
{
    enum axis a = 0;
    while (a < AXES &&
           (strlen(axis_info(a)->name) != length || strncmp(axis_info(a)->name, name, length) != 0))
        a++;
    return a;
}

/* Reads one flag, whose value follows an equals sign or is the next argument; advances *i past what it took.
 */
static bool read_flag(int argc, char **argv, int *i, struct options *o, struct message *error)
{
    const char *text = argv[*i];
    if (strncmp(text, "--", 2) != 0)
        return complain(error, "%s: not a flag; see --help", text);
    const char *name = text + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct flag *flag = flag_named(name, length);
    enum axis axis = axis_named(name, length);
    if (!flag && axis == AXES)
        return complain(error, "--%.*s: no such flag; see --help", (int)length, name);
    if (flag && !flag->argument)
        return equals ? complain(error, "--%s: takes no value", flag->name) : flag->read(o, NULL, error);
    const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (!value)
        return complain(error, "--%s: needs a value; see --help", name);
    if (flag)
        return flag->read(o, value, error);
    o->given[axis] = true;
    return axis_parse(axis, value, &o->axes[axis], error);
}

/* The graphs of a batch are small unless their size is given. */
static bool default_nodes(struct options *o, struct message *error)
{
    bool batches = false;
    for (int i = 0; i < o->axes[AXIS_BATCH].count; i++)
        batches = batches || o->axes[AXIS_BATCH].values[i] > 1;
    return !batches || o->given[AXIS_NODES] || axis_parse(AXIS_NODES, "32", &o->axes[AXIS_NODES], error);
}

/* What is read has one size. */
static bool file_nodes(struct options *o, struct message *error)
{
    bool drawn = false;
    for (int i = 0; i < o->axes[AXIS_GRAPH].count; i++)
        drawn = drawn || !graph_is_file(axis_text(&o->axes[AXIS_GRAPH], o->axes[AXIS_GRAPH].values[i]));
    return drawn || o->given[AXIS_NODES] || axis_parse(AXIS_NODES, "1", &o->axes[AXIS_NODES], error);
}

static bool check_graph(const struct options *o, struct message *error)
{
    if (o->cuda_graph && !o->device.backend->device)
        return complain(error, "--cuda-graph: not with --device %s, only on a GPU", o->device.name);
    return !o->cuda_graph || !o->profile ||
           complain(error, "--profile: not with --cuda-graph, which has no entries to time");
}

/* Only what runs needs the device itself. */
static bool open_device(struct options *o, struct message *error)
{
    return o->action != ACTION_RUN || device_open(&o->device, error);
}

static bool check_variants(const struct options *o, struct message *error)
{
    for (enum op op = 0; op < OPS; op++)
        if (o->variant[op] && !backend_kernel(o->device.backend, op, F32, o->variant[op]))
            return complain(error, "--impl %s=%s: %s has no such variant; see --list-ops", op_info(op)->name,
                            o->variant[op], o->device.backend->name);
    return true;
}

bool options_parse(const struct bench *b, int argc, char **argv, struct options *o, struct message *error)
{
    *o = (struct options){.device = {.name = "cpu", .backend = backend_cpu()},
                          .warmup = -1,
                          .min_samples = 10,
                          .budget = 60,
                          .max_noise = 0.02,
                          .seed = 42,
                          .count = COUNT_OFF,
                          .roofline = true,
                          .check = true,
                          .check_budget = 5,
                          .programs = {true, true}};
    for (enum axis a = 0; a < AXES; a++)
        if (!axis_parse(a, a == b->axis ? b->values : axis_info(a)->standard, &o->axes[a], error))
            return false;
    for (int i = 1; i < argc; i++)
        if (!read_flag(argc, argv, &i, o, error))
            return false;
    return default_nodes(o, error) && file_nodes(o, error) && check_variants(o, error) &&
           check_graph(o, error) && dump_possible(o, error) && open_device(o, error);
}

void options_free(struct options *o)
{
    device_close(&o->device);
    for (enum axis a = 0; a < AXES; a++)
        axis_values_free(&o->axes[a]);
}

static void help_line(FILE *out, const char *name, const char *argument, const char *help)
{
    char left[40];
    snprintf(left, sizeof left, "--%s %s", name, argument ? argument : "");
    fprintf(out, "  %-22s %s\n", left, help);
}

void options_help(const struct bench *b, FILE *out)
{
    fprintf(out,
            "%s: %s\n\nAxes: comma lists of values and ranges (100,500  1k-16k*2  2-16+2); every combination "
            "is a row.\n",
            b->name, b->doc);
    for (int a = AXES - 1; a >= 0; a--) {
        const struct axis_info *axis = axis_info((enum axis)a);
        char help[160];
        snprintf(help, sizeof help, "%s (default %s)", axis->help,
                 a == (int)b->axis ? b->values : axis->standard);
        help_line(out, axis->name, "LIST", help);
    }
    fprintf(out, "\nFlags:\n");
    for (int i = 0; i < FLAGS; i++)
        help_line(out, flags[i].name, flags[i].argument, flags[i].help);
    fprintf(out,
            "\nExamples:\n"
            "  %1$s                                   the default sweep: table, result file and charts\n"
            "  %1$s --nodes 1k-8k*2 --phase step --profile\n"
            "  %1$s --device meta --nodes 100-10M*10  FLOPs and memory of sizes that no machine holds\n"
            "\nExit status: 0 all rows good, 1 a row failed, 2 the command line is wrong.\n",
            b->name);
}
