/*
 * Under valgrind a run has one thread, and often another instruction set than the timed ones, so the result
 * names both. The FLOPs that more threads would add (sums of their partial results) are not counted.
 *
 * A program executes what its entries execute. So the tape is run once more, each entry whose key is new is
 * captured just before it runs, with its operands (captured.h), and one process under valgrind runs all that
 * were captured. Starting it takes half a second.
 */
#include "bench/flops/executed.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "bench/base/child.h"
#include "bench/base/interrupt.h"
#include "bench/flops/captured.h"
#include "models/encodings/compute.h"

static const char *instruction_set(int register_bytes)
{
    return register_bytes == 64 ? "avx512" : register_bytes == 32 ? "avx2" : "base";
}

/* The instruction set of the timed kernels; the reference is compiled for any processor. */
static const char *timed_set(const struct executed_request *r)
{
    return strncmp(r->backend->name, "cpu-", 4) == 0 ? r->backend->name + 4 : "base";
}

bool executed_by_valgrind(const struct valgrind_run *run, struct executed_flops *out, struct message *error)
{
#if ISA_X86
    struct executions executions;
    if (!valgrind_executions(run, &executions, error))
        return false;
    bool good = disassembly_flops(&executions, run->calls, out, error);
    executions_free(&executions);
    return good;
#else
    (void)run, (void)out;
    return complain(error, "valgrind: the FLOPs of instructions are unknown on this architecture");
#endif
}

static void say_source(const struct executed_request *r, struct executed *out)
{
    static const char *const differences[] = {"", "instruction set", "threads", "instruction set, threads"};
    const char *timed = timed_set(r);
    int different = (strcmp(out->isa, timed) != 0) + 2 * (out->threads != r->threads);
    out->differences = differences[different];
    int length = snprintf(out->source, sizeof out->source, "%s: %s, %d thread%s%s",
                          r->mode == COUNT_COUNTERS ? "hardware counters" : "callgrind", out->isa,
                          out->threads, out->threads == 1 ? "" : "s", different ? "" : " as timed");
    if (different)
        snprintf(out->source + length, sizeof out->source - (size_t)length, " (timed: %s, %d)", timed,
                 r->threads);
}

static void set_counted(const struct executed_request *r, struct executed_flops counted, struct executed *out)
{
    out->flops = counted.flops;
    out->isa = instruction_set(counted.register_bytes);
    out->threads = 1;
    say_source(r, out);
}

static int64_t flops_max(const struct executed_request *r)
{
    return r->mode == COUNT_BASE ? executed_base_flops_max : executed_flops_max;
}

static bool too_slow(const struct executed_request *r, struct message *error)
{
    return complain(error, "more than %.3g analytic FLOPs: too slow under valgrind", (double)flops_max(r));
}

struct work {
    struct tape *tape; /* null: an encoding */
    const struct encoding_config *pe;
    const struct batch *batch;
    int threads;
    int64_t flops; /* of the encoding */
};

struct counting {
    const struct executed_request *request;
    struct tape *tape;
    struct capture capture;
    int *counted;     /* of each entry of the tape: index in the request's entries */
    int first_new;    /* in those */
    int64_t analytic; /* FLOPs of those captured */
    bool too_slow;
};

/* Captures an entry unless it was counted or captured before. */
static void consider(void *context, int entry)
{
    struct counting *c = context;
    struct counted_entries *known = c->request->entries;
    if (entry == tape_entry_count(c->tape) || c->too_slow)
        return;
    const struct entry *e = tape_entry(c->tape, entry);
    int before = known->count;
    c->counted[entry] = counted_entry(known, entry_key(e));
    if (known->count == before)
        return;
    c->too_slow = e->flops < 0 || (c->analytic += e->flops) > flops_max(c->request);
    if (!c->too_slow)
        capture_entry(&c->capture, e);
}

static void consider_next(void *context, int entry)
{
    consider(context, entry + 1);
}

static bool count_captured(const struct executed_request *r, const char *directory, const char *path,
                           int calls, struct executed_flops *out, struct message *error)
{
    const char *const arguments[] = {capture_word, path, NULL};
    struct valgrind_run run = {.arguments = arguments,
                               .function = capture_function,
                               .calls = calls,
                               .directory = directory,
                               .seconds = r->seconds,
                               .base = r->mode == COUNT_BASE};
    return executed_by_valgrind(&run, out, error);
}

static bool count_new(struct counting *c, const char *directory, struct message *error)
{
    const struct executed_request *r = c->request;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/calls", directory);
    if (!capture_open(&c->capture, path, error))
        return false;
    consider(c, 0);
    tape_run_marked(c->tape, consider_next, c);
    if (!capture_close(&c->capture, error))
        return false;
    if (c->too_slow || interrupt_signal())
        return c->too_slow ? too_slow(r, error) : complain(error, "interrupted");
    int calls = c->capture.calls;
    struct executed_flops *counts = allocate((size_t)calls, sizeof *counts);
    bool good = !calls || count_captured(r, directory, path, calls, counts, error);
    for (int i = 0; i < calls && good; i++)
        r->entries->list[c->first_new + i].executed = counts[i];
    free(counts);
    return good;
}

static struct executed_flops sum_entries(const struct counting *c)
{
    struct executed_flops sum = {0};
    for (int i = 0; i < tape_entry_count(c->tape); i++) {
        struct executed_flops e = c->request->entries->list[c->counted[i]].executed;
        sum.flops += e.flops;
        if (e.register_bytes > sum.register_bytes)
            sum.register_bytes = e.register_bytes;
    }
    return sum;
}

static bool count_tape(const struct executed_request *r, struct tape *t, struct executed *out,
                       struct message *error)
{
    struct counting c = {.request = r, .tape = t, .first_new = r->entries->count};
    char directory[PATH_MAX];
    c.counted = allocate((size_t)tape_entry_count(t), sizeof *c.counted);
    bool made = scratch_make(directory, error), good = made && count_new(&c, directory, error);
    if (made)
        scratch_remove(directory);
    if (good)
        set_counted(r, sum_entries(&c), out);
    else
        r->entries->count = c.first_new;
    free(c.counted);
    return good;
}

static bool capture_alone(const char *path, const struct work *w, struct message *error)
{
    struct capture capture;
    if (!capture_open(&capture, path, error))
        return false;
    capture_encoding(&capture, w->pe, w->batch);
    return capture_close(&capture, error);
}

static bool count_encoding(const struct executed_request *r, const struct work *w, struct executed *out,
                           struct message *error)
{
    char directory[PATH_MAX], path[PATH_MAX + 16];
    struct executed_flops counted;
    if (w->flops < 0 || w->flops > flops_max(r))
        return too_slow(r, error);
    if (!scratch_make(directory, error))
        return false;
    snprintf(path, sizeof path, "%s/calls", directory);
    bool good = capture_alone(path, w, error) && count_captured(r, directory, path, 1, &counted, error);
    scratch_remove(directory);
    if (good)
        set_counted(r, counted, out);
    return good;
}

/* --- either, by counters or under valgrind */

static void do_work(void *work)
{
    const struct work *w = work;
    struct encoding e;
    char error[256];
    struct encoding_options with = {.threads = w->threads};
    if (w->tape)
        tape_run(w->tape);
    else if (encoding_compute(w->pe, w->batch, &with, &e, error, sizeof error))
        encoding_free(&e);
}

static bool count_by_counters(const struct executed_request *r, struct work *w, struct executed *out,
                              struct message *error)
{
    if (!r->counters)
        return complain(error, "%s", r->no_counters);
    if (w->tape && tape_total(w->tape).bf16 > 0 && strcmp(timed_set(r), "amx") == 0)
        return complain(error, "the processor's counters leave out what AMX tiles multiply");
    out->isa = timed_set(r);
    out->threads = r->threads;
    say_source(r, out);
    return counters_measure(r->counters, r->threads, do_work, w, &out->flops, error);
}

static bool count_by_valgrind(const struct executed_request *r, const struct work *w, struct executed *out,
                              struct message *error)
{
    return w->tape ? count_tape(r, w->tape, out, error) : count_encoding(r, w, out, error);
}

static bool count_work(const struct executed_request *r, struct work *w, struct executed *out,
                       struct message *error)
{
    *out = (struct executed){0};
    struct executed_request one = *r;
    struct message counters, valgrind;
    switch (r->mode) {
    case COUNT_OFF:
        return complain(error, "switched off (--count off)");
    case COUNT_COUNTERS:
        return count_by_counters(r, w, out, error);
    case COUNT_AUTO:
        one.mode = COUNT_COUNTERS;
        if (count_by_counters(&one, w, out, &counters))
            return true;
        one.mode = COUNT_BASE;
        return count_by_valgrind(&one, w, out, &valgrind) ||
               complain(error, "%.240s; %.240s", counters.text, valgrind.text);
    default:
        return count_by_valgrind(r, w, out, error);
    }
}

bool executed_by_tape(const struct executed_request *r, struct tape *t, struct executed *out,
                      struct message *error)
{
    return count_work(r, &(struct work){.tape = t}, out, error);
}

bool executed_by_encoding(const struct executed_request *r, const struct encoding_config *pe,
                          const struct batch *b, int64_t flops, struct executed *out, struct message *error)
{
    return count_work(r, &(struct work){NULL, pe, b, r->threads, flops}, out, error);
}
