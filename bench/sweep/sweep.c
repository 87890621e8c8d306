/*
 * A sweep goes over its rows in turns. The first, in the order of the rows, makes complete rows; the others,
 * each in an order of its own, add samples, so that drifts and states of the machine affect all rows alike
 * (google/benchmark's random interleaving). Several devices are measured one after the other.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/record.h"
#include "analysis/statistics/allocate.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h" /* passes_are_later */
#include "bench/row/row.h"
#include "bench/row/workload.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/jobs.h"
#include "bench/sweep/report.h"
#include "kernels/rng.h"

/* Turns that are added for programs with too few in one state: at most this many times --repetitions. */
enum { MORE_TURNS = 3 };

/* Graphs are kept between turns up to this share of the memory, and generated again beyond it. */
static const double kept_share = 1.0 / 16;

struct run {
    const struct options *options;
    struct progress *progress;
    struct report *report;
    struct peaks *peaks;
    struct interim interim;
    struct job *jobs;
    const struct job *last; /* whose turn was the last */
    int64_t rows;
    struct pace pace;
    double held;     /* bytes of the graphs of all rows */
    double deadline; /* by the clock, of this device; infinite: none */
    double around;   /* seconds around the samples of a program in a turn */
};

/* Seconds for one device, up to the charts; infinite if something else says how long it measures. */
static double budget_of(const struct options *o)
{
    static const double charts = 0.02;
    bool counts = o->sampling.runs == 0 && !o->device.meta;
    return counts ? (1 - charts) * o->sampling.budget / o->device.count : INFINITY;
}

static void show(struct progress *p, const struct job *job, int64_t row)
{
    p->row = p->before + row;
    p->nodes = job->config->graph.nodes;
}

static double seconds_left(const struct run *s)
{
    return s->deadline - clock_now();
}

/* A seeded random order (Fisher and Yates). To be freed. */
static int64_t *shuffled(int64_t count, uint64_t key)
{
    int64_t *order = allocate((size_t)count, sizeof *order);
    for (int64_t i = 0; i < count; i++) {
        int64_t j = (int64_t)(rng_bits(key, (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

/* Keeps the graphs of a row for its next turn, if there is room. */
static void keep_graphs(struct run *s, struct job *job)
{
    double held = (double)measurement_bytes(job->m);
    if (s->options->sampling.turns == 1 ||
        s->held - job->held + held > kept_share * workload_limit(s->options)) {
        measurement_close(job->m);
        held = 0;
    }
    s->held += held - job->held;
    job->held = held;
}

/* Takes a turn of a row. False if nothing of it takes part. */
static bool take_turn(struct run *s, struct job *job, const struct turn_plan *plan)
{
    bool any = plan->first;
    for (size_t i = 0; i < TIMED; i++)
        any = any || plan->block[i].wanted;
    if (!any)
        return false;
    /* of a device it is the first; of processors it takes seconds, for rows whose samples take as long */
    bool in_time = s->options->device.context || seconds_left(s) > 10 * CALIBRATION_SECONDS;
    if (in_time && peaks_refresh(s->peaks, job->config->threads))
        report_peaks(s->report, s->peaks);
    s->last = job;
    measurement_turn(job->m, plan);
    keep_graphs(s, job);
    for (size_t i = 0; i < TIMED; i++)
        timing_learn(&job->timing[i], job->m, i, &job->states);
    return true;
}

static bool save_row(struct run *s, struct job *job, struct row *row, struct message *error)
{
    return report_row(s->report, s->progress->before + job->row, row, error);
}

/* Marks the peak rates that a program of the row exceeds. */
static void mark_exceeded(struct run *s, const struct row *row, int threads)
{
    bool marked = false;
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        const struct row_program *program = row_program(row, p);
        double percent = program->roofline.percent;
        const char *time = program->roofline.calibrated;
        if (percent > 100 && time)
            marked = peaks_exceeded(s->peaks, threads, time, percent) || marked;
    }
    if (marked)
        report_peaks(s->report, s->peaks);
}

static bool save_measured(struct run *s, struct job *job, struct message *error)
{
    struct row *row = measurement_row(job->m);
    mark_exceeded(s, row, job->config->threads);
    return save_row(s, job, row, error);
}

/* left: seconds for turns that are added to those of --repetitions. */
static struct turn_plan plan_turn(const struct job *job, int turn, double left)
{
    const struct sampling_options *o = &job->options->sampling;
    bool added = turn >= o->turns;
    struct turn_plan plan = {.first = turn == 0 && job->state != ROW_PARTIAL, .later = o->turns == 1};
    for (size_t i = 0; i < TIMED; i++) {
        plan.block[i] = timing_plan(&job->timing[i], o, added ? 0 : turn, i == PROGRAMS);
        if (added)
            plan.block[i].wanted = timing_lacks_turns(&job->timing[i], o, left);
    }
    return plan;
}

/* The first turn of a row: measures and reports it. Nothing is reported after a signal. */
static bool begin_row(struct run *s, struct job *job, struct message *error)
{
    char reason[256];
    bool partial = job->state == ROW_PARTIAL;
    if (!partial && job_is_skipped(job, &s->pace, reason))
        return save_row(s, job, row_skip(job, reason), error);
    job_open_profile(job);
    job->m = measurement_begin(job, partial ? report_at(s->report, s->progress->before + job->row) : NULL);
    for (size_t i = 0; i < TIMED; i++)
        timing_learn(&job->timing[i], job->m, i, &job->states);
    struct turn_plan plan = plan_turn(job, 0, 0);
    take_turn(s, job, &plan);
    if (interrupt_signal()) {
        measurement_end(job->m);
        job->m = NULL;
        return true;
    }
    pace_learn(&s->pace, job);
    return save_measured(s, job, error);
}

/* Prints a row that takes no more turns. */
static bool finish_row(struct run *s, struct job *job, bool *all_good, struct message *error)
{
    int64_t index = s->progress->before + (job - s->jobs);
    *all_good &= row_is_ok(report_at(s->report, index));
    if (job->m)
        measurement_warn(job->m);
    bool printed = report_print(s->report, index, job->state == ROW_KEPT, error);
    job_print_profile(job, report_profiles(s->report));
    return printed;
}

static void describe_job(const void *jobs, int64_t row, char text[AXES_TEXT])
{
    const struct job *job = &((const struct job *)jobs)[row];
    fields_describe(job->options, job->config, text);
}

/* Says which rows need more than the whole budget, which does not stop them. */
static void say_long_rows(const struct run *s)
{
    static const struct warning_kind over = {
        "note", "needs %s, more than the whole --budget",
        "its fewest runs are taken all the same; --timeout skips such rows, and --dry-run shows all"};
    const char *relation = peaks_were_exceeded(s->peaks) ? "about" : "at least";
    struct warnings told = {0};
    for (int64_t i = 0; i < s->rows; i++) {
        const struct job *job = &s->jobs[i];
        struct subject row = {&told, i, NULL};
        char text[UNITS_TEXT];
        double least = 0;
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            least += job->timing[p].call * estimate_runs(s->options);
        estimate_time_text(text, least);
        if (estimate_is_over(s->options, least))
            warnings_add(&row, &over, least, "%s %s", relation, text);
    }
    warnings_print(&told, describe_job, s->jobs, stderr);
    warnings_free(&told);
}

static bool first_turns(struct run *s, bool *all_good, struct message *error)
{
    bool only = s->options->sampling.turns == 1;
    for (int64_t i = 0; i < s->rows && !run_has_ended(&s->options->device); i++) {
        struct job *job = &s->jobs[i];
        if (job->state != ROW_KEPT) {
            show(s->progress, job, i);
            if (!begin_row(s, job, error))
                return false;
        }
        if (!only || interrupt_signal())
            continue;
        if (!finish_row(s, job, all_good, error))
            return false;
        measurement_end(job->m);
        job->m = NULL;
    }
    return true;
}

/* The states in the probes of all turns with this number of threads. */
static struct states states_of(const struct run *s, int threads)
{
    struct turn *all = NULL;
    size_t n = 0;
    for (int64_t i = 0; i < s->rows; i++)
        for (size_t t = 0; t < TIMED; t++) {
            const struct job *job = &s->jobs[i];
            const struct samples *samples =
                job->m && job->config->threads == threads ? measurement_samples(job->m, t) : NULL;
            if (!samples)
                continue;
            for (int k = 0; k < samples->turns; k++) {
                all = grow(all, n, sizeof *all);
                all[n++] = samples->turn[k];
            }
        }
    struct states states = states_find(all, n);
    free(all);
    return states;
}

/* Finds the states of the machine from all turns so far, for each number of threads. */
static void find_states(struct run *s)
{
    for (int64_t i = 0; i < s->rows; i++) {
        struct job *job = &s->jobs[i], *same = NULL;
        for (int64_t k = 0; k < i && job->m && !same; k++)
            if (s->jobs[k].m && s->jobs[k].config->threads == job->config->threads)
                same = &s->jobs[k];
        if (same)
            job->states = same->states;
        else if (job->m)
            job->states = states_of(s, job->config->threads);
        for (size_t t = 0; t < TIMED && job->m; t++)
            timing_learn(&job->timing[t], job->m, t, &job->states);
    }
}

/* The part of the budget for what is measured after all turns. */
static double kept_for_later(const struct run *s)
{
    bool any = false;
    for (int64_t i = 0; i < s->rows && !any; i++)
        any = s->jobs[i].m && passes_are_later(&s->jobs[i]);
    return any ? BUDGET_KEPT * budget_of(s->options) : 0;
}

static double all_spent(const struct run *s, int *turns)
{
    double seconds = 0;
    *turns = 0;
    for (int64_t i = 0; i < s->rows; i++)
        for (size_t t = 0; t < TIMED; t++) {
            seconds += s->jobs[i].timing[t].spent;
            *turns += s->jobs[i].timing[t].turns;
        }
    return seconds;
}

/* Divides what is left by the planned turns that are left. */
static void allot(struct run *s, int turn)
{
    const struct sampling_options *o = &s->options->sampling;
    double kept = kept_for_later(s) + (o->turns >= REPORTED_MIN ? BUDGET_KEPT * budget_of(s->options) : 0),
           each = (seconds_left(s) - kept) / (o->turns - turn), planned = 0;
    for (int64_t i = 0; i < s->rows; i++)
        for (size_t t = 0; t < TIMED && s->jobs[i].m && measurement_goes_on(s->jobs[i].m); t++)
            if (s->jobs[i].timing[t].is_wanted) {
                planned += s->jobs[i].timing[t].share / o->turns;
                each -= s->around;
            }
    for (int64_t i = 0; i < s->rows && o->runs == 0; i++)
        for (size_t t = 0; t < TIMED; t++) {
            struct timing *timing = &s->jobs[i].timing[t];
            timing->block = planned > 0 && each > 0 ? timing->share / o->turns * each / planned : 0;
            timing->earned += timing->block;
        }
}

/* One more turn of all rows that take part. any: whether there were some. */
static bool next_turn(struct run *s, int turn, bool *any, struct message *error)
{
    const struct options *o = s->options;
    int64_t *order = shuffled(s->rows, rng_bits(rng_key(o->seed, "turns"), (uint64_t)turn));
    bool going = true, added = turn >= o->sampling.turns;
    int before, after;
    double start = clock_now(), spent = all_spent(s, &before), later = added ? kept_for_later(s) : 0;
    *any = false;
    if (!added)
        allot(s, turn);
    for (int64_t i = 0; i < s->rows && going && !run_has_ended(&s->options->device); i++) {
        struct job *job = &s->jobs[order[i]];
        if (!job->m || !measurement_goes_on(job->m))
            continue;
        show(s->progress, job, order[i]);
        struct turn_plan plan = plan_turn(job, turn, seconds_left(s) - later);
        if (take_turn(s, job, &plan)) {
            *any = true;
            going = save_measured(s, job, error);
        }
    }
    free(order);
    spent = all_spent(s, &after) - spent;
    if (after > before)
        s->around = (clock_now() - start - spent) / (after - before);
    find_states(s);
    progress_clear(s->progress);
    interim_show(&s->interim, s->progress->before, s->rows);
    return going;
}

static bool later_turns(struct run *s, struct message *error)
{
    int turns = s->options->sampling.turns;
    bool going = true, any = true;
    find_states(s);
    interim_show(&s->interim, s->progress->before, s->rows);
    for (int turn = 1; turn < (1 + MORE_TURNS) * turns && going && !run_has_ended(&s->options->device);
         turn++)
        if (turn < turns || any)
            going = next_turn(s, turn, &any, error);
    for (int64_t i = 0; i < s->rows && !run_has_ended(&s->options->device); i++)
        if (s->jobs[i].m) {
            show(s->progress, &s->jobs[i], i);
            measurement_finish(s->jobs[i].m);
        }
    progress_clear(s->progress);
    return going;
}

/* Reports all rows again, with the states that all turns show, and prints them. */
static bool finish_rows(struct run *s, bool *all_good, struct message *error)
{
    bool going = true;
    interim_clear(&s->interim);
    for (int64_t i = 0; i < s->rows && going; i++) {
        struct job *job = &s->jobs[i];
        if (job->m)
            going = save_measured(s, job, error);
        if (going && report_has(s->report, s->progress->before + i))
            going = finish_row(s, job, all_good, error);
    }
    return going;
}

/* False with a message if the device was lost: the row, what was said, and how to continue. */
static bool device_survived(const struct run *s, struct message *error)
{
    const struct options *o = s->options;
    struct fault f = device_fault(&o->device);
    char axes[AXES_TEXT], row[AXES_TEXT] = "before the first row";
    if (f.kind != FAULT_LOST)
        return true;
    if (s->last) {
        fields_describe(o, s->last->config, axes);
        snprintf(row, sizeof row, "row %lld (%.150s)", (long long)(s->progress->before + s->last->row + 1),
                 axes);
    }
    return complain(error, "%s: %s is lost: %s: %.100s%s", row, o->device.card, f.where, f.words,
                    s->report->path ? "; to continue, repeat the command with --resume" : "");
}

static bool run_jobs(const struct job *common, struct peaks *peaks, struct report *r, bool *all_good,
                     struct message *error)
{
    const struct options *o = common->options;
    struct flush flush = {0};
    struct job shared = *common;
    double now = clock_now(), budget = budget_of(o);
    shared.flush = &flush;
    shared.deadline = common->deadline + budget;
    shared.probed = peak_of(o->device.backend) != NULL;
    shared.peak = o->roofline ? peak_of(o->device.backend) : NULL;
    struct run s = {.options = o,
                    .progress = common->progress,
                    .report = r,
                    .peaks = peaks,
                    .interim = {.report = r},
                    .deadline = shared.deadline,
                    .around = estimate_around(o),
                    .rows = o->plan.count,
                    .pace = pace_start(peaks)};
    s.jobs = jobs_plan(&shared, r->resume->state + common->progress->before, s.rows,
                       isfinite(budget) ? fmax(shared.deadline - now, budget / 10) : o->sampling.budget);
    say_long_rows(&s);
    bool going = first_turns(&s, all_good, error);
    if (going && o->sampling.turns > 1)
        going = later_turns(&s, error) && finish_rows(&s, all_good, error);
    going = going && device_survived(&s, error);
    jobs_free(s.jobs, s.rows);
    flush_close(&flush);
    common->progress->before += s.rows;
    return going;
}

bool sweep(struct options *o, struct peaks *peaks, struct report *r, bool *all_good, struct message *error)
{
    struct progress progress;
    struct counters counters;
    struct counted_entries entries = {0};
    struct message none;
    progress_start(&progress, o->plan.count * o->device.count);
    bool counting = o->count != COUNT_OFF && counters_open(&counters, &none);
    struct job common = {.options = o,
                         .progress = &progress,
                         .counters = counting ? &counters : NULL,
                         .no_counters = none.text,
                         .entries = &entries,
                         .peaks = peaks,
                         .warnings = &r->warnings,
                         .deadline = o->sampling.began,
                         .trace = r->trace};
    bool done = true;
    *all_good = true;
    if (o->device.meta)
        o->sampling.turns = 1; /* nothing is timed */
    progress.ends = o->sampling.began + o->device.count * budget_of(o);
    for (int i = 0; done && i < o->device.count; i++, common.deadline += budget_of(o))
        done = device_select(&o->device, i, error) && run_jobs(&common, peaks, r, all_good, error);
    if (counting)
        counters_close(&counters);
    counted_entries_free(&entries);
    return done;
}
