/* The table of flags and the readers of their values. A message names the flag, the value and what is
 * allowed. */
#include "bench/cli/flags.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/record/record.h"
#include "bench/base/quantity.h"
#include "bench/base/suggest.h"
#include "bench/cli/kernels.h"
#include "bench/time/cold.h"

static bool read_device(struct options *o, const char *value, struct message *error)
{
    return device_parse(value, &o->device, error);
}

static bool read_impl(struct options *o, const char *value, struct message *error)
{
    size_t length = strcspn(value, "=");
    struct suggestion s = {value, length, NULL, 0};
    char nearest[SUGGESTION_TEXT];
    enum op op = 0;
    while (op < OPS && (strlen(op_info(op)->name) != length || strncmp(op_info(op)->name, value, length)))
        suggest_offer(&s, op_info(op++)->name);
    if (op == OPS || !value[length])
        return complain(error, "--impl %.200s: OP=VARIANT, as in --list-ops%s", value,
                        op == OPS ? suggest_text(&s, "", nearest) : "");
    if (o->variant[op])
        return complain(error, "--impl %.200s: %s is given twice", value, op_info(op)->name);
    o->variant[op] = value + length + 1;
    return true;
}

static bool read_phase(struct options *o, const char *value, struct message *error)
{
    memset(o->programs, 0, sizeof o->programs);
    o->model_nodes = 0;
    if (strcmp(value, "none") == 0)
        return true;
    char *copy = strdup(value), *next = copy;
    bool good = copy && *value;
    for (char *item; good && (item = strsep(&next, ",")) != NULL;) {
        good = false;
        for (enum program_kind p = 0; p < MODEL_PROGRAMS; p++)
            if (strcmp(item, program_name(p)) == 0 && !o->programs[p])
                good = o->programs[p] = true;
    }
    free(copy);
    return good || complain(error, "--phase %.200s: forward, step, forward,step or none", value);
}

static bool read_calibrate(struct options *o, const char *value, struct message *error)
{
    (void)value, (void)error;
    return o->calibrate = o->roofline = true;
}

static bool read_threshold(struct options *o, const char *value, struct message *error)
{
    return gates_parse(value, &o->gates, error);
}

static bool read_baseline(struct options *o, const char *value, struct message *error)
{
    char why[MESSAGE_SIZE];
    json_decref(o->baseline); /* of a flag given twice, which is refused then */
    o->baseline = record_load_any(value, why);
    o->interleave = true; /* so that the drift of the machine shows */
    return o->baseline || complain(error, "--baseline %.400s", why);
}

static bool read_largest(struct options *o, const char *value, struct message *error)
{
    return largest_parse(value, &o->largest, error);
}

static bool read_seed(struct options *o, const char *value, struct message *error)
{
    double seed;
    if (!parse_number(value, true, 0, 0x1p53 - 1, &seed))
        return complain(error, "--seed %.200s: a whole number from 0 to 2^53 - 1", value);
    o->seed = (uint64_t)seed;
    return true;
}

static const char *const count_modes[] = {"auto", "counters", "valgrind", "off", NULL}; /* enum count_mode */
static const char *const formats[] = {"table", "md", "csv", "json", "jsonl", NULL};     /* enum format */

#define FIELD(name) .field = offsetof(struct options, name)
#define ON(name)    .kind = FLAG_ON, FIELD(name)
#define OFF(name)   .kind = FLAG_OFF, FIELD(name)
#define WHOLE(name, low, high)                                                                               \
    .kind = FLAG_WHOLE, FIELD(name), .min = low, .max = high, .what = "a whole number"
#define NUMBER(name, high, noun) .kind = FLAG_NUMBER, FIELD(name), .max = high, .what = noun
#define SECONDS(name)            .kind = FLAG_SECONDS, FIELD(name), .max = 1e6
#define SIZE(name)               .kind = FLAG_SIZE, FIELD(name)
#define CHOICE(name, list)       .kind = FLAG_CHOICE, FIELD(name), .choices = list
#define PATH(name, noun)         .kind = FLAG_PATH, FIELD(name), .what = noun
#define ACT(name)                .kind = FLAG_ACTION, .action = ACTION_##name
#define OTHER(reader)            .kind = FLAG_OTHER, .read = reader

static const struct flag flags[] = {
    {WHERE, "device", "NAME",
     "cpu; cuda, cuda:N or cuda:all; ref: the scalar reference; meta: plan only, any size",
     OTHER(read_device)},
    {WHERE, "impl", "OP=VARIANT", "kernel of an op (--list-ops)", OTHER(read_impl), .repeats = true},
    {WHERE, "op", "LIST", "ops to time, in bench_kernels (--list-ops; default: all)", OTHER(kernels_read)},
    {WHERE, "cuda-graph", NULL, "on a GPU: replay the program as one graph (no times of phases)",
     ON(cuda_graph)},

    {WHAT, "phase", "LIST", "programs to time: forward, step, none (default: both; bench_pe_scaling: step)",
     OTHER(read_phase)},
    {WHAT, "profile", NULL, "where the time goes: per op, per layer, per phase", ON(profile)},
    {WHAT, "trace", "FILE", "a replay of each program for Perfetto: ops and memory",
     PATH(trace, "a file")},
    {WHAT, "count", "HOW", "executed FLOPs: auto, counters, valgrind (slow; up to 3 GFLOP) or off (default)",
     CHOICE(count, count_modes)},
    {WHAT, "seed", "N", "of graphs, inputs and parameters (default 42)", OTHER(read_seed)},
    {WHAT, "check-budget", "SECONDS",
     "check whole programs that the oracle does in this time, others by rows (default 5)",
     SECONDS(check_budget)},
    {WHAT, "no-check", NULL, "do not check the results", OFF(check)},
    {WHAT, "calibrate", NULL, "measure the machine's ceilings anew (else once, kept beside the results)",
     OTHER(read_calibrate)},
    {WHAT, "no-roofline", NULL, "do not measure or use the machine's ceilings", OFF(roofline)},

    {SAMPLES, "budget", "SECONDS",
     "time for the sweep, shared by its rows (default 60; kernels 30, encodings 20)", SECONDS(budget)},
    {SAMPLES, "max-noise", "SHARE", "enough when the median's interval is this narrow (default 0.02)",
     NUMBER(max_noise, 1, "a share of the median,")},
    {SAMPLES, "min-samples", "N", "fewest samples before noise can end sampling (default 10)",
     WHOLE(min_samples, 1, 1e6)},
    {SAMPLES, "cold", "N", "samples with emptied caches beside the others (default: 5 on a GPU, else none)",
     WHOLE(cold, 0, COLD_MAX)},
    {SAMPLES, "runs", "N", "samples of each program (default: by noise and budget)", WHOLE(runs, 1, 1e6)},
    {SAMPLES, "warmup", "N", "runs before the first sample (default: for 0.1 s, at least one)",
     WHOLE(warmup, 0, 1e6)},
    {SAMPLES, "interleave", NULL,
     "sample all rows in random turns: slow drifts of the machine then hit all alike", ON(interleave)},

    {OUTPUT, "format", "NAME", "on stdout: table, md, csv, json, jsonl (default table)",
     CHOICE(format, formats)},
    {OUTPUT, "output", "FILE", "result file, JSON (default results/local/BINARY.json, charts beside it)",
     PATH(output, "a file")},
    {OUTPUT, "resume", NULL, "go on with the result file: only what is missing or failed is measured",
     ON(resume)},
    {OUTPUT, "dump", "DIR", "write a step's inputs, parameters, results and gradients there, as .npy",
     PATH(dump, "a directory")},
    {OUTPUT, "no-charts", NULL, "do not draw charts", OFF(charts)},

    {LIMITS, "mem-limit", "SIZE", "rows that need more are not run (default: what is free)", SIZE(mem_limit)},
    {LIMITS, "timeout", "SECONDS", "end a row's sampling then, skip rows that need longer", SECONDS(timeout)},
    {LIMITS, "find-max-nodes", "WHAT", "the largest graph that fits: memory, memory:4GiB or latency:100ms",
     OTHER(read_largest)},

    {GATES, "threshold", "LIST",
     "latency:100ms,throughput:1k/s,memory:2GiB,error:1e-4; exit 1 where a row misses one",
     OTHER(read_threshold)},
    {GATES, "baseline", "FILE",
     "an older result file; exit 1 where a row is slower now, beyond the drift seen", OTHER(read_baseline)},
    {GATES, "against", "BINARY", "run an old build and this one in turns; exit 1 where this one is slower",
     PATH(against, "an executable file")},

    {ABOUT, "dry-run", NULL, "rows that would run, their time (least) and memory, and stop; writes nothing",
     ACT(DRY_RUN)},
    {ABOUT, "list-tape", NULL, "print what would run, entry by entry, and stop", ACT(LIST_TAPE)},
    {ABOUT, "list-devices", NULL, "processors and GPUs", ACT(LIST_DEVICES)},
    {ABOUT, "list-models", NULL, "models and what they are", ACT(LIST_MODELS)},
    {ABOUT, "list-graphs", NULL, "families of random graphs, and graphs from files", ACT(LIST_GRAPHS)},
    {ABOUT, "list-ops", NULL, "ops, their mathematics, FLOPs and variants", ACT(LIST_OPS)},
    {ABOUT, "version", NULL, "version and how this was built", ACT(VERSION)},
    {ABOUT, "help", NULL, "this text", ACT(HELP)},
};

const struct flag *flag_at(int index)
{
    return index < (int)(sizeof flags / sizeof *flags) ? &flags[index] : NULL;
}

/* The field of the options that a flag sets. */
static void set(const struct flag *f, struct options *o, const void *value, size_t size)
{
    memcpy((char *)o + f->field, value, size);
}

static bool read_number(const struct flag *f, struct options *o, const char *value, struct message *error)
{
    double number;
    if (!parse_number(value, f->kind == FLAG_WHOLE, f->min, f->max, &number))
        return complain(error, "--%s %.200s: %s from %.0f to %.0f", f->name, value, f->what, f->min, f->max);
    int whole = (int)number;
    if (f->kind == FLAG_WHOLE)
        set(f, o, &whole, sizeof whole);
    else
        set(f, o, &number, sizeof number);
    return true;
}

/* A bare number is seconds; it has no suffix, since the million of "1m" would be taken for a minute. */
static bool read_seconds(const struct flag *f, struct options *o, const char *value, struct message *error)
{
    double seconds;
    bool bare =
        !value[strspn(value, "0123456789.eE+-")] && parse_number(value, false, f->min, f->max, &seconds);
    if (!bare && !(quantity_parse(value, QUANTITY_SECONDS, &seconds) && seconds <= f->max))
        return complain(error, "--%s %.200s: seconds, from %.0f to %.0f, or %s", f->name, value, f->min,
                        f->max, quantity_allowed(QUANTITY_SECONDS));
    set(f, o, &seconds, sizeof seconds);
    return true;
}

static bool read_size(const struct flag *f, struct options *o, const char *value, struct message *error)
{
    double size;
    if (!quantity_parse(value, QUANTITY_BYTES, &size))
        return complain(error, "--%s %.200s: %s", f->name, value, quantity_allowed(QUANTITY_BYTES));
    set(f, o, &size, sizeof size);
    return true;
}

static bool read_choice(const struct flag *f, struct options *o, const char *value, struct message *error)
{
    struct suggestion s = {value, strlen(value), NULL, 0};
    char names[256] = "", nearest[SUGGESTION_TEXT];
    for (int i = 0; f->choices[i]; i++) {
        size_t used = strlen(names);
        if (strcmp(value, f->choices[i]) == 0) {
            set(f, o, &i, sizeof i);
            return true;
        }
        suggest_offer(&s, f->choices[i]);
        snprintf(names + used, sizeof names - used, "%s%s",
                 !i                  ? ""
                 : f->choices[i + 1] ? ", "
                                     : " or ",
                 f->choices[i]);
    }
    return complain(error, "--%s %.200s: %s%s", f->name, value, names, suggest_text(&s, "", nearest));
}

bool flag_read(const struct flag *f, struct options *o, const char *value, struct message *error)
{
    bool on = f->kind == FLAG_ON;
    switch (f->kind) {
    case FLAG_ON:
    case FLAG_OFF:
        set(f, o, &on, sizeof on);
        return true;
    case FLAG_ACTION:
        o->action = f->action;
        return true;
    case FLAG_WHOLE:
    case FLAG_NUMBER:
        return read_number(f, o, value, error);
    case FLAG_SECONDS:
        return read_seconds(f, o, value, error);
    case FLAG_SIZE:
        return read_size(f, o, value, error);
    case FLAG_CHOICE:
        return read_choice(f, o, value, error);
    case FLAG_PATH:
        set(f, o, &value, sizeof value);
        return *value || complain(error, "--%s: needs the name of %s", f->name, f->what);
    case FLAG_OTHER:
        break;
    }
    return f->read(o, value, error);
}
