#include "bench/cli/flags.h"

#include <string.h>

#include "analysis/record/result_file.h"
#include "bench/base/quantity.h"
#include "bench/base/suggest.h"
#include "bench/cli/presets.h"
#include "bench/cli/readers.h"
#include "bench/time/apart.h"
#include "models/tape/conventions.h"

static bool read_axis(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    enum axis axis = (enum axis)a->flag->value;
    char presets[PRESET_NAMES];
    bool all = axis == AXIS_PRESET && strcmp(a->value, "all") == 0;
    if (all)
        preset_names(presets);
    o->given[axis] = true;
    if (axis == AXIS_MODEL) {
        o->plugin.models = a->value;
        return true;
    }
    return axis_parse(axis, all ? presets : a->value, &o->axes[axis], error);
}

static bool read_device(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    return device_parse(a->value, &o->device, error);
}

static bool read_impl(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    size_t length = strcspn(a->value, "=");
    struct suggestion s = {a->value, length, NULL, 0};
    char nearest[SUGGESTION_TEXT];
    const char *name;
    int i = 0;
    for (; (name = form_name(form_at(i))) && (strlen(name) != length || strncmp(name, a->value, length)); i++)
        suggest_offer(&s, name);
    struct form f = form_at(i);
    if (!name || !a->value[length])
        return complain(error, "--impl %.200s: OP=VARIANT, as in --list ops%s", a->value,
                        name ? "" : suggest_text(&s, "", nearest));
    if (o->variant[f.op][f.options])
        return complain(error, "--impl %.200s: %s is given twice", a->value, name);
    o->variant[f.op][f.options] = a->value + length + 1;
    return true;
}

static bool read_tag(const struct argument *a, struct message *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    struct options *o = a->options;
    char key[64];
    size_t length = strspn(a->value, allowed);
    if (length == 0 || length >= sizeof key || a->value[length] != '=')
        return complain(error, "--tag %.200s: KEY=VALUE, with a key of letters, digits, - and _", a->value);
    snprintf(key, sizeof key, "%.*s", (int)length, a->value);
    if (!o->tags)
        o->tags = value_new_object();
    if (value_get(o->tags, key))
        return complain(error, "--tag %.200s: %s is given twice", a->value, key);
    value_set_text(o->tags, key, a->value + length + 1);
    return true;
}

static const char *phase_at(int index)
{
    return index < MODEL_PROGRAMS ? program_name((size_t)index) : NULL;
}

static bool read_phase(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    char nearest[SUGGESTION_TEXT];
    memset(o->programs, 0, sizeof o->programs);
    o->model_nodes = 0;
    return strcmp(a->value, "none") == 0 || names_read(a->value, phase_at, o->programs, nearest) ||
           complain(error, "--phase %.200s: forward, step, forward,step or none%s", a->value, nearest);
}

static const char *convention_at(int index)
{
    return index < CONVENTIONS ? convention_name((enum convention)index) : NULL;
}

static bool read_conventions(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    bool chosen[CONVENTIONS] = {false};
    char nearest[SUGGESTION_TEXT];
    bool good = names_read(a->value, convention_at, chosen, nearest);
    o->conventions = 0;
    for (int c = 0; c < CONVENTIONS; c++)
        o->conventions |= (unsigned)chosen[c] << c;
    return good || complain(error,
                            "--flop-convention %.200s: one or more of full, simple, torch, fvcore and "
                            "deepspeed, each once%s",
                            a->value, nearest);
}

/* Of the machine and of the link between ranks, each once. */
static bool read_peaks(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    static const char link[] = "link=";
    bool of_link = strncmp(a->value, link, strlen(link)) == 0, measure = strcmp(a->value, "measure") == 0;
    if (of_link ? o->links.count : measure ? o->calibrate : o->peaks.count)
        return complain(error, "--peaks %.200s: given twice", a->value);
    o->roofline = o->roofline || !of_link;
    if (measure)
        return o->calibrate = true;
    return of_link ? link_parse(a->value + strlen(link), &o->links, error)
                   : peaks_parse(a->value, &o->peaks, error);
}

static bool read_lenience(const struct argument *a, struct message *error)
{
    struct lenience *l = &((struct options *)a->options)->lenience;
    bool strict = strcmp(a->value, "strict") == 0, allow = strcmp(a->value, "allow-uncompared") == 0;
    bool exact = strcmp(a->value, "exact") == 0, unchecked = strcmp(a->value, "allow-unchecked") == 0;
    l->strict = l->strict || strict;
    l->allow_uncompared = l->allow_uncompared || allow;
    l->exact = l->exact || exact;
    l->allow_unchecked = l->allow_unchecked || unchecked;
    return strict || allow || exact || unchecked ||
           complain(error, "--gate %.200s: exact, strict, allow-uncompared, allow-unchecked", a->value);
}

static bool read_threshold(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    return gates_parse(a->value, &o->gates, error);
}

static bool read_baseline(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    char why[MESSAGE_SIZE];
    record_free(o->baseline); /* given twice, which is refused later */
    o->baseline = record_load(a->value, why);
    return o->baseline || complain(error, "--baseline %.400s", why);
}

static bool read_column(const struct argument *a, struct message *error)
{
    struct output_options *o = &((struct options *)a->options)->output;
    return columns_read(a->value, o->columns, &o->columns_count, error);
}

static bool read_seed(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    double seed;
    if (!parse_number(a->value, true, 0, 0x1p53 - 1, &seed))
        return complain(error, "--seed %.200s: a whole number from 0 to 2^53 - 1", a->value);
    o->seed = (uint64_t)seed;
    return true;
}

/* "2/3": the second of three parts. */
static bool read_shard(const struct argument *a, struct message *error)
{
    struct shard_options *s = &((struct options *)a->options)->shard;
    char part[16];
    double index = 0, of = 0;
    size_t length = strcspn(a->value, "/");
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part), a->value);
    if (length >= sizeof part || !a->value[length] ||
        !parse_number(a->value + length + 1, true, 1, AXIS_VALUES_MAX, &of) ||
        !parse_number(part, true, 1, of, &index))
        return complain(error, "--shard %.200s: I/N, the I-th of N parts, I from 1 to N", a->value);
    s->index = (int)index;
    s->of = (int)of;
    return true;
}

const char *const count_modes[] = {"auto", "counters", "valgrind", "base", "off", NULL};
static const char *const energy_rows[] = {"some", "no", "all", NULL}; /* enum energy_rows */
static const char *const planned_devices[] = {"cpu", "cuda", NULL};   /* enum plan_for */
static const char *const lists[] = {"tape",   "devices", "models", "presets",
                                    "graphs", "ops",     NULL}; /* from ACTION_LIST_TAPE on */
#define FIELD(name) .field = offsetof(struct options, name)
#define ON(name)    .kind = FLAG_ON, FIELD(name)
#define OFF(name)   .kind = FLAG_OFF, FIELD(name)
#define WHOLE(name, low, high)                                                                               \
    .kind = FLAG_WHOLE, FIELD(name), .min = low, .max = high, .what = "a whole number"
#define SECONDS(name)      .kind = FLAG_SECONDS, FIELD(name), .max = 1e6
#define SIZE(name)         .kind = FLAG_SIZE, FIELD(name)
#define CHOICE(name, list) .kind = FLAG_CHOICE, FIELD(name), .choices = list
#define PATH(name, noun)   .kind = FLAG_PATH, FIELD(name), .what = "the name of " noun
#define ACT(name)          .kind = FLAG_SET, FIELD(action), .value = ACTION_##name
#define OTHER(reader)      .kind = FLAG_OTHER, .read = reader

static const struct flag flags[] = {
    {WHERE, "device", "NAME", "cpu, cuda, cuda:N, cuda:all, ref (scalar loops) or meta (plan only)",
     OTHER(read_device)},
    {WHERE, "plan-for", "DEVICE", "with --device meta: cpu (default) or cuda",
     CHOICE(plan_for, planned_devices)},
    {WHERE, "impl", "OP=VARIANT", "which kernel runs an op, or op+option (--list ops)", OTHER(read_impl),
     .repeats = true},
    {WHERE, "plugin", "FILE", "a library of kernels for --impl and models for --model (docs/plugins.md)",
     PATH(plugin.file, "a library")},
    {WHERE, "op", "LIST", "ops to time (--list ops; default: all), or op+option", OTHER(kernels_read)},
    {WHERE, "no-cuda-graph", NULL, "on a GPU: launch the ops one by one, do not replay them as one graph",
     ON(launched)},
    {WHERE, "weak", NULL, "weak scaling: --batch graphs (--parallel halo: --nodes) for each rank", ON(weak)},

    {WHAT, "data", "KIND=FILE", "features, edge-features or labels beside a graph file (.npy, text), or none",
     OTHER(data_read), FIELD(tables), .repeats = true},
    {WHAT, "phase", "LIST", "programs to time: forward, step, none (default: both; encodings: step)",
     OTHER(read_phase)},
    {WHAT, "profile", NULL, "print the time per op, layer and phase, and keep it in the result file",
     ON(profile)},
    {WHAT, "flop-convention", "LIST", "print FLOPs per op by the rules of simple, torch, fvcore, deepspeed",
     OTHER(read_conventions)},
    {WHAT, "trace", "FILE", "write a replay of each program for Perfetto: ops and memory",
     PATH(output.trace, "a file")},
    {WHAT, "count", "HOW", "count executed FLOPs: auto, counters, valgrind (slow), base, off (default)",
     CHOICE(count, count_modes)},
    {WHAT, "seed", "N", "seed of graphs, inputs and parameters (default 42)", OTHER(read_seed)},
    {WHAT, "check-budget", "SECONDS",
     "check whole within this, else by rows for as long (default 5; 0: all rows)", SECONDS(check.budget)},
    {WHAT, "no-check", NULL, "do not check the results", OFF(check.wanted)},
    {WHAT, "peaks", "HOW",
     "peak rates: measure: calibrate the machine again (default: once, kept in results/local); with --device "
     "meta, predict times, and on a GPU compare with: FILE (those of a result file), peak=RATE,dram=RATE, or "
     "published ones of a GPU, as H100; link=FILE or link=400Gb/s,2us between ranks",
     OTHER(read_peaks), .repeats = true, .former = "ceilings"},
    {WHAT, "no-roofline", NULL, "do not measure or use peak rates; probe the machine's state by pings only",
     OFF(roofline)},

    {SAMPLES, "budget", "SECONDS",
     "time of the whole run (default 60; presets 120, kernels 40, encodings 20)", SECONDS(sampling.budget),
     .min = 0.001},
    {SAMPLES, "repetitions", "N",
     "of each row, spread over the run; fewer than 7 give no verdict (default 10)",
     WHOLE(sampling.turns, 1, 1000), .former = "turns"},
    {SAMPLES, "cold", "N", "additional runs with cold caches (default: 5 on a GPU and for kernels)",
     WHOLE(sampling.cold, 0, COLD_MAX)},
    {SAMPLES, "energy", "ROWS", "on a GPU: some (default: first, middle and last row), all or no",
     CHOICE(sampling.energy, energy_rows)},
    {SAMPLES, "runs", "N", "samples of each program in all its repetitions (default: by the budget)",
     WHOLE(sampling.runs, 1, 1e6)},
    {SAMPLES, "warmup", "N", "runs before the samples of a repetition (default: by time)",
     WHOLE(sampling.warmup, 0, 1e6)},

    {OUTPUT, "format", "NAME", "stdout: table (default), md, csv[-full|-profile], json, jsonl, bmf, github",
     CHOICE(output.format, format_names)},
    {OUTPUT, "columns", "LIST", "of the table or CSV: fields of docs/fields.md, or forward, step, ...",
     .kind = FLAG_LIST, .read = read_column},
    {OUTPUT, "all", NULL, "print all rows of kernels, all tables of a model", ON(output.all)},
    {OUTPUT, "output", "FILE", "result file (default results/local/BINARY.jsonl); -: stdout",
     PATH(output.file, "a file")},
    {OUTPUT, "resume", NULL, "continue the result file: measure only what is missing or failed",
     ON(output.resume)},
    {OUTPUT, "shard", "I/N", "run part I of N parts of the sweep; build/merge joins their result files",
     OTHER(read_shard)},
    {OUTPUT, "dump", "DIR", "write inputs, parameters, results and gradients of a step as .npy",
     PATH(output.dump, "a directory")},
    {OUTPUT, "no-charts", NULL, "do not draw charts", OFF(output.charts)},
    {OUTPUT, "tag", "KEY=VALUE", "label the run in its result file, comparisons, reports and queries",
     OTHER(read_tag), .repeats = true},

    {LIMITS, "mem-limit", "SIZE", "do not run rows that need more memory (default: free memory)",
     SIZE(mem_limit)},
    {LIMITS, "timeout", "SECONDS", "limit the sampling of a row; skip rows that need longer",
     SECONDS(sampling.timeout)},
    {LIMITS, "find", "AXIS=WHAT",
     "the most nodes, batch, layers or hidden, as nodes=memory:4GiB or batch=latency:100ms; or where one "
     "overtakes the other: attention=dense,sparse or encoding=step",
     OTHER(find_read)},

    {GATES, "threshold", "LIST",
     "latency:100ms,p99:1s,throughput:1k/s,memory:2GiB,flops:1TFLOP,error:1e-4, of one program with step. "
     "and "
     "so on before it; exit 1 if missed",
     OTHER(read_threshold)},
    {GATES, "baseline", "FILE", "an older result file; exit 1 if a row is slower now by more than the drift",
     OTHER(read_baseline)},
    {GATES, "against", "BINARY", "run an old build and this one alternately; exit 1 if this one is slower",
     PATH(against, "an executable file")},
    {GATES, "gate", "LIST",
     "exact: compare what is planned, not times; strict: what is inconclusive is a miss; allow-uncompared, "
     "allow-unchecked: rows that were not are none",
     .kind = FLAG_LIST, .read = read_lenience},

    {ABOUT, "dry-run", NULL, "print the rows with their minimum time and memory; run and write nothing",
     ACT(DRY_RUN)},
    {ABOUT, "list", "WHAT", "tape (the entries of programs), devices, models, presets, graphs or ops",
     CHOICE(action, lists), .value = ACTION_LIST_TAPE},
    {ABOUT, "version", NULL, "print the version and how it was built", ACT(VERSION)},
    {ABOUT, "help", NULL, "print this help", ACT(HELP)},
};

_Static_assert(AXES + sizeof flags / sizeof *flags < FLAGS_MAX, "FLAGS_MAX is too small");

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* The benchmark's own axis is listed first, then those that it has other values of. */
enum { OWN, ALSO, OTHERS, PLACES };

static int listed_at(const struct bench *b, enum axis a)
{
    return a == b->axis && !b->kernels ? OWN : b->also[a] ? ALSO : OTHERS;
}

static struct flag flag_of(const struct bench *b, enum axis a)
{
    const struct axis_info *axis = axis_info(a);
    return (struct flag){.group = listed_at(b, a) < OTHERS ? MAIN : AXES_LISTED,
                         .name = axis->name,
                         .argument = "LIST",
                         .help = axis->help,
                         .standard = bench_values(b, a),
                         .value = (int)a,
                         .unlisted = b->kernels && axis->of_model && a != AXIS_PRESET,
                         OTHER(read_axis)};
}

void flags_all(const struct bench *b, struct flag all[FLAGS_MAX])
{
    /* what means nothing in a benchmark, and what most people need */
    static const char *const in_kernels[] = {"layers", "phase",    "weak",      "data", "dump",
                                             "ranks",  "parallel", "partition", NULL};
    static const char *const in_model[] = {"op", "profile", NULL}, *const in_sweeps[] = {"op", "all", NULL};
    static const char *const needed[] = {"nodes",  "model",   "layers", "hidden",  "batch",   "threads",
                                         "device", "impl",    "op",     "phase",   "profile", "budget",
                                         "format", "columns", "output", "dry-run", NULL};
    const char *const *idle = b->kernels ? in_kernels : b->whole ? in_model : in_sweeps;
    int n = 0;
    for (int place = 0; place < PLACES; place++)
        for (enum axis a = 0; a < AXES; a++)
            if (listed_at(b, a) == place)
                all[n++] = flag_of(b, a);
    memcpy(all + n, flags, sizeof flags);
    all[n + (int)(sizeof flags / sizeof *flags)] = (struct flag){.name = NULL};
    for (struct flag *f = all; f->name; f++) {
        f->unlisted = f->unlisted || is_among(idle, f->name);
        f->group = is_among(needed, f->name) ? MAIN : f->group;
    }
}
