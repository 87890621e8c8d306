/* Each pass: whether it is wanted, what it does, and how its result is written. */
#include "bench/row/passes.h"

#include <math.h>

#include "analysis/record/plain.h"
#include "analysis/tables/profile_table.h"
#include "bench/base/interrupt.h"
#include "bench/cli/describe.h"
#include "bench/row/fields.h"
#include "bench/row/put.h"
#include "bench/row/result.h"
#include "bench/row/sampling.h"
#include "bench/show/dump.h"
#include "bench/show/profile.h"
#include "bench/show/trace.h"
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

/* The ceilings of the state after the last turn; of a program that is only planned, those given. */
static const struct calibration *ceilings_after(const struct target *t)
{
    const char *missing;
    if (is_planned(t))
        return ceilings_for(t->job->ceilings, t->job->config->threads);
    struct turns turns = samples_turns(t->result->samples);
    return ceilings_in(t->job->ceilings, t->job->config->threads, turns.list, turns.count,
                       &turns.list[turns.count - 1].after, &missing);
}

/* --- time with cold caches */

static int cold_runs(const struct target *t)
{
    int asked = t->job->options->sampling.cold;
    return asked >= 0 ? asked : on_device(t) || t->kind == PROGRAM_KERNEL ? COLD_DEFAULT : 0;
}

static const char *cold_unwanted(const struct target *t)
{
    return cold_runs(t) == 0 ? "" : NULL;
}

static bool cold_run(struct target *t, struct message *missing)
{
    const struct job *job = t->job;
    double seconds = job->options->sampling.cold >= 0 ? INFINITY : job->share[t->kind] / 10;
    if (!flush_ready(job->flush, &job->options->device, job->config->threads, missing))
        return false;
    t->result->cold = cold_measure(t->recording->tape, job->flush, cold_runs(t), seconds);
    return true;
}

static void cold_write(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    put_count(row, &to->cold.n, p->cold.n);
    put_real(row, &to->cold.median, p->cold.median);
    put_real(row, &to->cold.min, p->cold.min);
    put_count(row, &to->cold.flushed, p->cold.flushed);
}

/* --- the host's part of a replay on a device */

static bool launching_run(struct target *t, struct message *missing)
{
    (void)missing;
    t->result->launching = launching_measure(t->recording->tape);
    return true;
}

static void launching_write(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    const struct launching *l = &p->launching;
    put_count(row, &to->launch.n, l->n);
    put_count(row, &to->launch.entries, l->entries);
    put_real(row, &to->launch.median, l->median);
}

/* --- runs launched entry by entry, beside samples of a graph */

static const char *eager_runs_unwanted(const struct target *t)
{
    return tape_captured(t->recording->tape) ? NULL : "";
}

static bool eager_runs_run(struct target *t, struct message *missing)
{
    (void)missing;
    t->result->eager = eager_measure(t->recording->tape, t->job->share[t->kind] / 10);
    return true;
}

static void eager_runs_write(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    put_count(row, &to->eager.n, p->eager.n);
    put_real(row, &to->eager.median, p->eager.median);
    put_real(row, &to->eager.min, p->eager.min);
    put_real(row, &to->eager.host, p->eager.host);
}

/* --- GPU clocks during sampling, and energy */

static const char *gpu_unwanted(const struct target *t)
{
    const struct device_choice *d = &t->job->options->device;
    return d->nvml ? NULL : d->context ? d->no_nvml : "";
}

static bool gpu_run(struct target *t, struct message *missing)
{
    (void)missing;
    tape_init(t->recording->tape);
    t->result->energy = energy_measure(t->recording->tape, t->job->options->device.nvml, ENERGY_SECONDS);
    t->result->energy.joules /= (double)t->work->batch.graphs;
    return true;
}

/* --- resident memory */

static bool resident_run(struct target *t, struct message *missing)
{
    struct resident *r = &t->result->resident;
    const char *reason = "";
    if (!memory_measure(t->recording->tape, r, &reason))
        return complain(missing, "%s", reason);
    t->result->resident_missing = r->program < 0 ? reason : NULL;
    /* Something allocates memory outside the plan. */
    if (r->program >= 0 && (double)r->program > 1.05 * (double)t->result->plan.arena + 4 * 0x1p20)
        outcome_set(&t->row->outcome, "wrong", "a run uses more resident memory than planned");
    return true;
}

static void resident_write(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    put_count(row, &to->memory.libraries, p->resident.libraries);
    if (p->resident_missing)
        put_reason(row, &to->memory.resident, p->resident_missing);
    else
        put_count(row, &to->memory.resident, p->resident.program);
}

/* --- the profile */

static const char *profile_unwanted(const struct target *t)
{
    return t->job->options->profile ? NULL : "";
}

static bool profile_run(struct target *t, struct message *missing)
{
    (void)missing;
    struct profile *p = &t->result->profile;
    const struct calibration *ceilings = ceilings_after(t);
    int samples = is_planned(t) ? 0 : t->result->samples->n;
    char title[TITLE_TEXT];
    fields_title(t->job->options, t->job->config, t->kind, title);
    profile_free(p);
    *p = samples > 0 ? profile_measure(t->recording->tape, samples < 10 ? samples : 10, ceilings)
                     : profile_plan(t->recording->tape, ceilings);
    if (tape_failed(t->recording->tape))
        return false;
    if (!options_print_profile(t->job->options))
        return true;
    profile_print(p, title, t->job->profile);
    if (t->job->options->bench->whole)
        profile_print_memory(p, t->job->profile);
    return true;
}

static void profile_set(struct row *row, enum program_kind kind, const struct program_result *p)
{
    profile_write(&p->profile, row, kind);
}

/* --- exchange with other ranks */

static const char *exchange_unwanted(const struct target *t)
{
    bool forecast = is_planned(t) && t->job->options->links.count > 0;
    return t->work->ranks || forecast ? NULL : "";
}

static int64_t most_sent(const struct workload *w)
{
    int64_t most = 0;
    for (int r = 0; r < w->ranks->count; r++) {
        int64_t sent = 0;
        for (enum phase p = 0; p < PHASES; p++)
            sent += w->facts[r].cost[p].sent;
        most = max_of(most, sent);
    }
    return most;
}

static bool exchange_run(struct target *t, struct message *missing)
{
    (void)missing;
    if (is_planned(t))
        return true;
    tape_init(t->recording->tape);
    t->result->exchange = exchange_measure(t->recording->tape, t->work->options->sampling.runs);
    t->result->exchange.sent = most_sent(t->work);
    return true;
}

/* --- output beside the row, without fields */

static const char *trace_unwanted(const struct target *t)
{
    return t->job->trace ? NULL : "";
}

static bool trace_run(struct target *t, struct message *missing)
{
    (void)missing;
    char program[TITLE_TEXT], title[TITLE_TEXT + 32];
    fields_title(t->job->options, t->job->config, t->kind, program);
    snprintf(title, sizeof title, "row %lld: %s", (long long)t->job->row + 1, program);
    trace_add(t->job->trace, title, t->recording->tape);
    return true;
}

/* --- FLOPs counted in the reference's loops */

static bool count_run(struct target *t, struct message *missing)
{
    int64_t analytic = result_cost(t->result).flops;
    t->result->counted = tape_count(t->recording->tape, count_limit);
    if (t->result->counted < 0)
        return complain(missing, "an op has more than 1e9 FLOPs");
    if (analytic >= 0 && analytic != t->result->counted)
        outcome_set(&t->row->outcome, "wrong", "the counted FLOPs differ from the formulas");
    return true;
}

static void count_write(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    put_count(row, &to->flops.counted, p->counted);
}

/* --- FLOPs executed */

static const char *executed_unwanted(const struct target *t)
{
    return t->job->options->count == COUNT_OFF ? "" : NULL;
}

struct executed_request executed_how(const struct job *job)
{
    return (struct executed_request){.mode = job->options->count,
                                     .counters = job->counters,
                                     .no_counters = job->no_counters,
                                     .entries = job->entries,
                                     .backend = job->options->device.backend,
                                     .threads = job->config->threads};
}

static bool executed_run(struct target *t, struct message *missing)
{
    struct executed_request how = executed_how(t->job);
    return executed_by_tape(&how, t->recording->tape, &t->result->executed, missing);
}

static void executed_write(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    const struct executed *e = &p->executed;
    put_count(row, &to->flops.executed, e->flops);
    to->flops.source = row_keep(row, e->source);
    to->flops.executed_isa = row_keep(row, e->isa);
    put_count(row, &to->flops.executed_threads, e->threads);
    to->flops.executed_differences = row_keep(row, e->differences);
}

/* --- correctness */

static bool check_run(struct target *t, struct message *missing)
{
    (void)missing;
    t->row->checked.check.tell = progress_check;
    t->row->checked.check.told = t->job->progress;
    progress_check(t->job->progress, "", 0, 0);
    struct checked before = t->row->checked;
    verify(&t->row->checked, t->work, t->kind, t->recording);
    progress_checked(t->job->progress, t->job->check[t->kind]);
    if (tape_failed(t->recording->tape))
        t->row->checked = before;
    return true;
}

static const char *dump_unwanted(const struct target *t)
{
    return t->job->options->output.dump && t->kind == PROGRAM_STEP ? NULL : "";
}

static bool dump_run(struct target *t, struct message *missing)
{
    const struct options *o = t->job->options;
    const struct batch *b = &t->work->batch;
    tape_init(t->recording->tape);
    struct value *config = config_describe(&t->work->config, o, b, t->recording->tape);
    bool written = dump_write(o->output.dump, config, &b->adj, t->recording, missing);
    value_free(config);
    return written || outcome_set(&t->row->outcome, "failed", "%s", missing->text);
}

static const struct pass passes[PASSES] = {
    {{"cold"}, A_RUN, cold_unwanted, cold_run, cold_write},
    {{"launch"}, A_RUN | A_GPU, NULL, launching_run, launching_write},
    {{"eager"}, A_RUN | A_GPU, eager_runs_unwanted, eager_runs_run, eager_runs_write},
    {{"gpu", "time.discarded"}, A_RUN, gpu_unwanted, gpu_run, fields_gpu},
    {{"memory.resident", "memory.libraries"}, A_RUN | ONE_RANK, NULL, resident_run, resident_write},
    {{"communication"}, 0, exchange_unwanted, exchange_run, fields_exchange},
    {{"profile", "predicted"}, 0, profile_unwanted, profile_run, profile_set},
    {{NULL}, A_RUN, trace_unwanted, trace_run, NULL},
    {{"flops.counted"}, A_RUN | ONE_RANK, NULL, count_run, count_write},
    {{"flops.executed"}, A_RUN | THE_HOST, executed_unwanted, executed_run, executed_write},
    {{NULL}, A_RUN, NULL, check_run, NULL},
    {{NULL}, A_RUN, dump_unwanted, dump_run, NULL},
};

/* Why a pass does not run, "" if nobody expects it; null if it runs. */
static const char *why_left_out(const struct pass *p, const struct target *t)
{
    if ((p->needs & A_RUN && is_planned(t)) || (p->needs & A_GPU && !on_device(t)))
        return "";
    const char *unwanted = p->unwanted ? p->unwanted(t) : NULL;
    return unwanted                                ? unwanted
           : p->needs & ONE_RANK && t->work->ranks ? "not with several ranks"
           : p->needs & THE_HOST && on_device(t)   ? "not measured on GPUs"
                                                   : NULL;
}

void passes_run(struct target *t)
{
    for (int i = 0; i < PASSES && !interrupt_signal() && !tape_failed(t->recording->tape); i++) {
        struct message *missing = &t->result->missing[i];
        const char *reason = why_left_out(&passes[i], t);
        if (reason)
            complain(missing, "%s", reason);
        else
            t->result->done[i] = passes[i].run(t, missing);
    }
}

void passes_write(struct row *row, enum program_kind kind, const struct program_result *p)
{
    for (int i = 0; i < PASSES; i++) {
        if (p->done[i] && passes[i].write)
            passes[i].write(row, kind, p);
        for (int f = 0; f < PASS_FIELDS && !p->done[i] && *p->missing[i].text && passes[i].fields[f]; f++)
            put_program_reason(row, kind, passes[i].fields[f], p->missing[i].text);
    }
}
