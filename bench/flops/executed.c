/*
 * Under valgrind a run has one thread and an instruction set of its own, so the source says both. What a
 * second thread would add (sums of the threads' partial results) is not in that count.
 */
#include "bench/flops/executed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/scratch.h"
#include "bench/cli/config.h"
#include "bench/flops/valgrind.h"
#include "models/tape/tape.h"

/* What a replay of the tape is called, where programs are timed (sample.c). */
static const char replay[] = "tape_run_marked";

/* Words, up to a null. */
struct arguments {
    char **list;
    int count;
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *a, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    a->list = realloc(a->list, ((size_t)a->count + 2) * sizeof *a->list);
    if (!a->list || vasprintf(&a->list[a->count], format, values) < 0)
        abort();
    a->list[++a->count] = NULL;
    va_end(values);
}

/* What a graph that is read from a file does not leave open. */
static bool fixed_by_file(const struct options *o, const double value[AXES], enum axis axis)
{
    return graph_is_file(axis_text(&o->axes[AXIS_GRAPH], value[AXIS_GRAPH])) &&
           (axis == AXIS_NODES || axis == AXIS_DEGREE || axis == AXIS_BATCH);
}

static void add_axes(struct arguments *a, const struct options *o, int64_t row)
{
    double value[AXES];
    config_values(o, row, value);
    for (enum axis i = 0; i < AXES; i++) {
        const struct axis_info *axis = axis_info(i);
        if (i == AXIS_THREADS || fixed_by_file(o, value, i))
            continue;
        if (axis->kind == AXIS_NAME)
            add(a, "--%s=%s", axis->name, axis->choice((int)value[i]));
        else if (axis->kind == AXIS_TEXT)
            add(a, "--%s=%s", axis->name, axis_text(&o->axes[i], value[i]));
        else
            add(a, "--%s=%.17g", axis->name, value[i]);
    }
}

char **executed_arguments(const struct executed_request *r, const char *directory)
{
    static const char *const alone[] = {"--threads=1", "--warmup=0",    "--runs=1",
                                        "--no-check",  "--no-roofline", "--count=off"};
    const struct options *o = r->options;
    const struct kernel *kernel = config_at(o, r->row).kernel;
    struct arguments a = {0};
    add_axes(&a, o, r->row);
    add(&a, "--device=%s", o->device.name);
    for (enum op op = 0; op < OPS && !kernel; op++)
        if (o->variant[op])
            add(&a, "--impl=%s=%s", op_info(op)->name, o->variant[op]);
    if (kernel) {
        add(&a, "--op=%s", op_info(kernel->op)->name);
        add(&a, "--impl=%s=%s", op_info(kernel->op)->name, kernel->variant);
    } else {
        add(&a, "--phase=%s", r->program);
    }
    add(&a, "--seed=%" PRIu64, o->seed);
    add(&a, "--output=%s/record.json", directory);
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        add(&a, "%s", alone[i]);
    return a.list;
}

void executed_arguments_free(char **arguments)
{
    for (char **word = arguments; *word; word++)
        free(*word);
    free(arguments);
}

static const char *instruction_set(int register_bytes)
{
    return register_bytes == 64 ? "avx512" : register_bytes == 32 ? "avx2" : "base";
}

/* Of the kernels that were timed; the reference is compiled for any processor. */
static const char *timed_set(const struct backend *b)
{
    return strncmp(b->name, "cpu-", 4) == 0 ? b->name + 4 : "base";
}

bool executed_by_valgrind(const char *const *arguments, const char *function, const char *directory,
                          double seconds, struct executed_flops *out, struct message *error)
{
#if ISA_X86
    struct valgrind_run run = {
        .arguments = arguments, .function = function, .directory = directory, .seconds = seconds};
    struct executions executions;
    if (!disassembly_available(error) || !valgrind_executions(&run, &executions, error))
        return false;
    bool good = disassembly_flops(&executions, out, error);
    executions_free(&executions);
    return good;
#else
    (void)arguments, (void)function, (void)directory, (void)seconds, (void)out;
    return complain(error, "valgrind: FLOPs are not told from instructions on this architecture");
#endif
}

static bool count_by_valgrind(const struct executed_request *r, struct executed *out, struct message *error)
{
    if (r->analytic < 0 || r->analytic > executed_flops_max)
        return complain(error, "more than %.3g analytic FLOPs: too long under valgrind",
                        (double)executed_flops_max);
    char directory[PATH_MAX];
    if (!scratch_make(directory, error))
        return false;
    struct executed_flops flops = {0};
    char **arguments = executed_arguments(r, directory);
    bool good = executed_by_valgrind((const char *const *)arguments, replay, directory, executed_seconds_max,
                                     &flops, error);
    executed_arguments_free(arguments);
    scratch_remove(directory);
    if (!good)
        return false;
    const char *counted = instruction_set(flops.register_bytes),
               *timed = timed_set(r->options->device.backend);
    bool same = strcmp(counted, timed) == 0 && r->threads == 1;
    out->flops = flops.flops;
    snprintf(out->source, sizeof out->source, "callgrind: %s, 1 thread%s", counted, same ? " as timed" : "");
    if (!same)
        snprintf(out->source, sizeof out->source, "callgrind: %s, 1 thread (timed: %s, %d)", counted, timed,
                 r->threads);
    return true;
}

static void run_tape(void *tape)
{
    tape_run(tape);
}

static bool count_by_counters(const struct executed_request *r, struct executed *out, struct message *error)
{
    if (!r->counters)
        return complain(error, "%s", r->no_counters);
    snprintf(out->source, sizeof out->source, "hardware counters: %s, %d thread%s as timed",
             timed_set(r->options->device.backend), r->threads, r->threads == 1 ? "" : "s");
    return counters_measure(r->counters, r->threads, run_tape, r->tape, &out->flops, error);
}

bool executed_measure(const struct executed_request *r, struct executed *out, struct message *error)
{
    *out = (struct executed){0};
    struct message counters, valgrind;
    switch (r->mode) {
    case COUNT_OFF:
        return complain(error, "switched off (--count off)");
    case COUNT_COUNTERS:
        return count_by_counters(r, out, error);
    case COUNT_VALGRIND:
        return count_by_valgrind(r, out, error);
    default:
        return count_by_counters(r, out, &counters) || count_by_valgrind(r, out, &valgrind) ||
               complain(error, "%.240s; %.240s", counters.text, valgrind.text);
    }
}
