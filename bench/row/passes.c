#include "bench/row/passes.h"

#include <math.h>

#include "analysis/record/profile.h"
#include "analysis/tables/profile_table.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/row/fields.h"
#include "bench/show/dump.h"
#include "bench/show/profile.h"
#include "bench/show/trace.h"
#include "bench/time/apart.h"
#include "kernels/arithmetic.h"
#include "kernels/ranks.h"
#include "models/tape/count.h"

/* An op with more FLOPs is not counted, because that would take seconds. */
static const int64_t count_limit = 1000000000;

static bool on_device(const struct target *t)
{
    return t->job->options->device.backend->device != NULL;
}

static bool is_planned(const struct target *t)
{
    return t->job->options->device.meta;
}

/* The peak rates of the state after the last turn; of a program that is only planned, those given. */
static const struct calibration *peaks_after(const struct target *t)
{
    const char *reason;
    if (is_planned(t))
        return peaks_for(t->job->peaks, t->job->config->threads);
    struct turns turns = samples_turns(&t->timed->samples);
    return peaks_in(t->job->peaks, t->job->config->threads, turns.list, turns.count,
                    &turns.list[turns.count - 1].after, &reason);
}

static const char late[] = "no time was left of --budget";

/* asked: by a flag that is about nothing else. */
static const char *why_late(const struct job *job, bool asked)
{
    return asked || clock_now() < job->deadline ? NULL : late;
}

static int cold_runs(const struct target *t)
{
    int asked = t->job->options->sampling.cold;
    return asked >= 0 ? asked : on_device(t) || t->kind == PROGRAM_KERNEL ? COLD_DEFAULT : 0;
}

static const char *why_no_cold(const struct target *t)
{
    return cold_runs(t) == 0 ? "" : why_late(t->job, t->job->options->sampling.cold > 0);
}

static void cold_run(struct target *t)
{
    const struct job *job = t->job;
    double seconds = job->options->sampling.cold >= 0 ? INFINITY : job->timing[t->kind].share / 10;
    if (flush_ready(job->flush, &job->options->device, job->config->threads, &t->reason))
        cold_measure(t->recording->tape, job->flush, cold_runs(t), seconds, t->to);
}

static void launching_run(struct target *t)
{
    launching_measure(t->recording->tape, t->to);
}

/* --- runs launched entry by entry, beside samples of a graph */

static const char *why_no_eager_runs(const struct target *t)
{
    return tape_captured(t->recording->tape) ? NULL : "";
}

static void eager_runs_run(struct target *t)
{
    double phase[PHASES][EAGER_MAX];
    eager_measure(t->recording->tape, t->job->timing[t->kind].share / 10, t->to, phase);
    timed_write_eager(t->row, t->kind, phase);
}

static const char *why_no_gpu(const struct target *t)
{
    const struct device_choice *d = &t->job->options->device;
    return d->nvml ? NULL : d->context ? d->no_nvml : "";
}

static void gpu_run(struct target *t)
{
    t->timed->watched = true;
}

static const char *why_no_energy(const struct target *t)
{
    const struct options *o = t->job->options;
    return !o->device.nvml || o->sampling.energy == ENERGY_NO ? ""
           : t->job->energy == 0 ? "measured of the first, the middle and the last row (--energy all)"
                                 : why_late(t->job, o->sampling.energy == ENERGY_ALL);
}

static void energy_run(struct target *t)
{
    tape_init(t->recording->tape);
    energy_measure(t->recording->tape, t->job->options->device.nvml, t->job->energy, t->work->batch.graphs,
                   t->row, t->to);
}

static void resident_run(struct target *t)
{
    struct row_program *to = t->to;
    const char *reason = memory_measure(t->recording->tape, to);
    if (to->memory.resident == COUNT_ABSENT)
        row_put_reason(t->row, &to->memory.resident, reason);
    if (to->memory.libraries == COUNT_ABSENT)
        row_put_reason(t->row, &to->memory.libraries, reason);
    /* Something allocates memory outside the plan, which plug-ins may. */
    if (!sections_possible(t->recording->tape) &&
        (double)to->memory.resident > 1.05 * (double)tape_planned(t->recording->tape)->arena + 4 * 0x1p20)
        outcome_set(t->outcome, "wrong", "a run uses more resident memory than planned");
}

static const char *why_no_profile(const struct target *t)
{
    return t->job->options->profile ? NULL : "";
}

static void print_profile(const struct target *t, const struct profile *p)
{
    char title[TITLE_TEXT];
    if (!options_print_profile(t->job->options))
        return;
    fields_title(t->job->options, t->job->config, t->kind, title);
    profile_print(p, title, t->job->profile);
    if (t->job->options->bench->whole)
        profile_print_memory(p, t->job->profile);
}

static void profile_run(struct target *t)
{
    const struct calibration *peaks = peaks_after(t);
    int samples = is_planned(t) ? 0 : t->timed->samples.n;
    struct profile p = samples > 0 ? profile_measure(t->recording->tape, samples < 10 ? samples : 10, peaks)
                                   : profile_plan(t->recording->tape, peaks);
    if (!tape_failed(t->recording->tape)) {
        print_profile(t, &p);
        profile_write(&p, t->row, t->kind);
    }
    profile_free(&p);
}

static const char *why_no_exchange(const struct target *t)
{
    bool forecast = is_planned(t) && t->job->options->links.count > 0;
    return t->work->group.ranks || forecast ? NULL : "";
}

static int64_t most_sent(const struct workload *w)
{
    int64_t most = 0;
    for (int r = 0; r < w->group.ranks->count; r++) {
        int64_t sent = 0;
        for (enum phase p = 0; p < PHASES; p++)
            sent += w->group.facts[r].cost[p].sent;
        most = max_of(most, sent);
    }
    return most;
}

/* The value, or absent with the reason. */
static void set_known(struct row *row, double *member, double value, const char *reason)
{
    if (reason)
        row_put_reason(row, member, reason);
    else
        row_put_real(row, member, value);
}

static void set_predicted(struct target *t)
{
    struct row_program *to = t->to;
    const struct forecast *f = t->forecast;
    const char *reason = *f->reason.text ? f->reason.text : f->bytes == 0 ? "nothing is exchanged" : NULL;
    const char *no_run = !f->known        ? f->reason.text
                         : !is_planned(t) ? "what runs has no peak rates of several ranks"
                         : isnan(f->run)  ? "no peak rates (--peaks)"
                                          : NULL;
    set_known(t->row, &to->communication.predicted, f->alone, reason);
    set_known(t->row, &to->communication.predicted_run, f->run, no_run);
    set_known(t->row, &to->communication.predicted_exposed, f->exposed, no_run);
    if (reason)
        row_put_reason(t->row, &to->communication.link, reason);
    else
        to->communication.link = row_keep(t->row, f->link.text);
}

static void exchange_run(struct target *t)
{
    struct row_program *to = t->to;
    const char *reason = "planned only (--device meta)";
    to->communication.bytes = is_planned(t) ? t->forecast->bytes : most_sent(t->work);
    if (!is_planned(t)) {
        tape_init(t->recording->tape);
        exchange_measure(t->recording->tape, t->work->options->sampling.runs, to);
        reason = to->communication.bytes == 0 ? "nothing is exchanged" : NULL;
    }
    if (reason) {
        row_put_reason(t->row, &to->communication.time, reason);
        row_put_reason(t->row, &to->communication.exposed, reason);
        row_put_reason(t->row, &to->communication.bandwidth, reason);
    }
    set_predicted(t);
}

static const char *why_no_trace(const struct target *t)
{
    return t->job->trace ? NULL : "";
}

static void trace_run(struct target *t)
{
    char program[TITLE_TEXT], title[TITLE_TEXT + 32];
    fields_title(t->job->options, t->job->config, t->kind, program);
    snprintf(title, sizeof title, "row %lld: %s", (long long)t->job->row + 1, program);
    trace_add(t->job->trace, title, t->recording->tape, t->job->options->plugin.opened);
}

static const char *why_no_sections(const struct target *t)
{
    return sections_possible(t->recording->tape) ? NULL : "";
}

static void sections_run(struct target *t)
{
    int samples = t->timed->samples.n;
    struct message fault = {""};
    sections_measure(t->recording->tape, t->job->options->plugin.opened, samples < 10 ? samples : 10,
                     program_name(t->kind), t->row, &fault);
    if (*fault.text)
        outcome_set(t->outcome, "failed", "%s: %s", program_name(t->kind), fault.text);
    if (options_print_profile(t->job->options))
        profile_print_sections(t->row, program_name(t->kind), t->job->profile);
}

static void count_run(struct target *t)
{
    int64_t counted = tape_count(t->recording->tape, count_limit), analytic = t->to->flops.analytic;
    if (counted < 0) {
        complain(&t->reason, "an op has more than 1e9 FLOPs");
        return;
    }
    t->to->flops.counted = counted;
    if (analytic != COUNT_ABSENT && analytic != counted)
        outcome_set(t->outcome, "wrong", "the counted FLOPs differ from the formulas");
}

const char *executed_why_not(const struct job *job)
{
    enum count_mode mode = job->options->count;
    return mode == COUNT_OFF ? "" : why_late(job, mode != COUNT_AUTO);
}

static const char *why_no_executed(const struct target *t)
{
    return executed_why_not(t->job);
}

struct executed_request executed_how(const struct job *job)
{
    double left = job->options->count == COUNT_AUTO ? job->deadline - clock_now() : INFINITY;
    return (struct executed_request){.mode = job->options->count,
                                     .counters = job->counters,
                                     .no_counters = job->no_counters,
                                     .entries = job->entries,
                                     .seconds = fmin(executed_seconds_max, left),
                                     .backend = job->options->device.backend,
                                     .threads = job->config->threads};
}

static void executed_run(struct target *t)
{
    struct executed_request how = executed_how(t->job);
    struct executed e;
    if (!executed_by_tape(&how, t->recording->tape, &e, &t->reason))
        return;
    t->to->flops.executed = e.flops;
    t->to->flops.source = row_keep(t->row, e.source);
    t->to->flops.executed_isa = row_keep(t->row, e.isa);
    t->to->flops.executed_threads = e.threads;
    t->to->flops.executed_differences = row_keep(t->row, e.differences);
}

static void check_run(struct target *t)
{
    struct checked *c = t->checked, before = *c;
    c->check.tell = progress_check;
    c->check.told = t->job->progress;
    progress_check(t->job->progress, "", 0, 0);
    verify(c, t->work, t->kind, t->recording);
    progress_clear(t->job->progress);
    if (tape_failed(t->recording->tape))
        *c = before;
}

static const char *why_no_dump(const struct target *t)
{
    return t->job->options->output.dump && t->kind == PROGRAM_STEP ? NULL : "";
}

static void dump_run(struct target *t)
{
    const struct options *o = t->job->options;
    const struct batch *b = &t->work->batch;
    tape_init(t->recording->tape);
    struct value *config = config_describe(&t->work->config, o->device.name, b, t->recording->tape);
    if (!dump_write(o->output.dump, config, &b->adj, t->recording, &t->reason))
        outcome_set(t->outcome, "failed", "%s", t->reason.text);
    value_free(config);
}

enum { PASS_FIELDS = 5 };

/* What a pass needs; A_RUN: more than a plan of the program. LATER: nothing else depends on it, so it comes
 * after all turns, and is left out for lack of time. */
enum { A_RUN = 1, A_GPU = 2, THE_HOST = 4, ONE_RANK = 8, LATER = 16 };

static const struct pass {
    const char *fields[PASS_FIELDS]; /* under the program's path: absent with the reason; null: none */
    unsigned needs;
    const char *(*why_not)(
        const struct target *t); /* why, "" if nobody asked, null if wanted; null: always */
    void (*run)(struct target *t);
} passes[] = {
    {{"cold"}, A_RUN | LATER, why_no_cold, cold_run},
    {{"launch"}, A_RUN | A_GPU, NULL, launching_run},
    {{"eager", "backward.time", "optimizer.time", "recompute.time"},
     A_RUN | A_GPU,
     why_no_eager_runs,
     eager_runs_run},
    {{"gpu"}, A_RUN, why_no_gpu, gpu_run},
    {{"gpu.energy_per_graph", "gpu.power", "gpu.energy_span", "gpu.busy", "gpu.memory_busy"},
     A_RUN,
     why_no_energy,
     energy_run},
    {{"memory.resident", "memory.libraries"}, A_RUN | ONE_RANK, NULL, resident_run},
    {{"communication"}, 0, why_no_exchange, exchange_run},
    {{"profile", "predicted"}, 0, why_no_profile, profile_run},
    {{NULL}, A_RUN, why_no_trace, trace_run},
    {{NULL}, A_RUN, why_no_sections, sections_run},
    {{"flops.counted"}, A_RUN | ONE_RANK, NULL, count_run},
    {{"flops.executed"}, A_RUN | THE_HOST | LATER, why_no_executed, executed_run},
    {{NULL}, A_RUN, NULL, check_run},
    {{NULL}, A_RUN, why_no_dump, dump_run},
};
enum { PASSES = sizeof passes / sizeof *passes };

/* Why a pass does not run, "" if nobody expects it; null if it runs. */
static const char *why_left_out(const struct pass *p, const struct target *t)
{
    if ((p->needs & A_RUN && is_planned(t)) || (p->needs & A_GPU && !on_device(t)))
        return "";
    const char *why_not = p->why_not ? p->why_not(t) : NULL;
    return why_not                                       ? why_not
           : p->needs & ONE_RANK && t->work->group.ranks ? "not with several ranks"
           : p->needs & THE_HOST && on_device(t)         ? "not measured on GPUs"
                                                         : NULL;
}

bool passes_are_later(const struct job *job)
{
    struct target t = {.job = job};
    bool any = encoding_any(&job->config->parts.pe) && !executed_why_not(job);
    for (; t.kind < PROGRAMS; t.kind++)
        for (int i = 0; i < PASSES && job->config->runs[t.kind]; i++)
            any = any || (passes[i].needs & LATER && !why_left_out(&passes[i], &t));
    return any;
}

static void note_left_out(const struct target *t, int pass)
{
    static const struct warning_kind over = {"note", "%s is not measured", late};
    struct subject program = {t->job->warnings, t->job->progress->before + t->job->row,
                              program_name(t->kind)};
    warnings_add(&program, &over, pass, "%s", passes[pass].fields[0]);
}

void passes_run(struct target *t)
{
    for (int i = 0; i < PASSES && !interrupt_signal() && !(t->recording && tape_failed(t->recording->tape));
         i++) {
        if (!(passes[i].needs & LATER ? t->later : t->first))
            continue;
        const char *reason = why_left_out(&passes[i], t);
        complain(&t->reason, "%s", reason ? reason : "");
        if (reason == late)
            note_left_out(t, i);
        if (!reason && t->recording)
            passes[i].run(t);
        for (int f = 0; f < PASS_FIELDS && *t->reason.text && passes[i].fields[f]; f++)
            row_omit_of(t->row, t->kind, passes[i].fields[f], t->reason.text);
    }
}

void passes_drop(struct row *row, enum program_kind kind)
{
    for (int i = 0; i < PASSES; i++)
        for (int f = 0; f < PASS_FIELDS && passes[i].fields[f]; f++) {
            char path[SCHEMA_PATH];
            snprintf(path, sizeof path, "%s.%s", program_name(kind), passes[i].fields[f]);
            if (row_has(row, path))
                row_omit(row, path, NULL);
        }
}
