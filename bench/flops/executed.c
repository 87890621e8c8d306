/*
 * Under valgrind a run has one thread, and possibly another instruction set, so the source names both. The
 * FLOPs that more threads would add (sums of their partial results) are not counted.
 */
#include "bench/flops/executed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/scratch.h"
#include "bench/flops/valgrind.h"
#include "models/tape/tape.h"

/* The function that replays the tape where programs are timed (sample.c). */
static const char replay[] = "tape_run_marked";

static const char *instruction_set(int register_bytes)
{
    return register_bytes == 64 ? "avx512" : register_bytes == 32 ? "avx2" : "base";
}

/* The instruction set of the timed kernels; the reference is compiled for any processor. */
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
    return complain(error, "valgrind: the FLOPs of instructions are unknown on this architecture");
#endif
}

/* The arguments and one more; to be freed. */
static const char **with_output(const char *const *arguments, const char *output)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    const char **all = calloc(count + 2, sizeof *all);
    if (!all)
        abort();
    memcpy(all, arguments, count * sizeof *all);
    all[count] = output;
    return all;
}

static bool count_by_valgrind(const struct executed_request *r, struct executed *out, struct message *error)
{
    if (r->analytic < 0 || r->analytic > executed_flops_max)
        return complain(error, "more than %.3g analytic FLOPs: too slow under valgrind",
                        (double)executed_flops_max);
    char directory[PATH_MAX];
    if (!scratch_make(directory, error))
        return false;
    struct executed_flops flops = {0};
    char output[PATH_MAX + 32];
    snprintf(output, sizeof output, "--output=%s/record.json", directory);
    const char **arguments = with_output(r->arguments, output);
    bool good = executed_by_valgrind(arguments, replay, directory, executed_seconds_max, &flops, error);
    free(arguments);
    scratch_remove(directory);
    if (!good)
        return false;
    const char *counted = instruction_set(flops.register_bytes), *timed = timed_set(r->backend);
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
             timed_set(r->backend), r->threads, r->threads == 1 ? "" : "s");
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
