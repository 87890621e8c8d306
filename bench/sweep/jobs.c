#include "bench/sweep/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/paths.h"
#include "bench/base/quantity.h"
#include "bench/cli/plan.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/search.h"
#include "bench/time/apart.h"

/* Predicted costs of the programs: seconds from the roofline; without a calibration the larger of the FLOPs
 * and an equivalent of the bytes; 0 if the graph cannot be planned. */
static void find_costs(struct job *job)
{
    static const double flops_per_byte = 10; /* a typical ridge point of a CPU */
    if (job->options->device.meta)
        return;
    const struct calibration *c = peaks_for(job->peaks, job->config->threads);
    struct estimate e = estimate_row(job->options, job->config, c);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        double flops = (double)e.program[p].flops, bytes = (double)e.program[p].bytes;
        job->cost[p] = !e.known ? 0 : c ? e.program[p].seconds : fmax(flops, flops_per_byte * bytes);
        job->timing[p].call = c ? job->cost[p] : 0;
        job->check[p] = estimate_check(job->options, job->config, &e, p);
    }
}

struct whole {
    int parts;     /* programs and encodings of all rows */
    double cost;   /* predicted, of all programs */
    double around; /* seconds around samples, and of checks */
    int metered;   /* programs whose energy is measured */
};

/* Whether the energy of a row is measured. */
static bool has_energy(const struct options *o, int64_t row, int64_t rows)
{
    bool some = row == 0 || row == rows / 2 || row == rows - 1;
    return o->device.nvml &&
           (o->sampling.energy == ENERGY_ALL || (o->sampling.energy == ENERGY_SOME && some));
}

/* Which programs and encodings of a row run; adds them to the sweep's. */
static void choose_programs(struct job *job, struct whole *all)
{
    const struct options *o = job->options;
    char reason[SKIP_REASON];
    bool is_skipped = config_is_skipped(o, job->config, reason);
    for (size_t i = 0; i < TIMED && !is_skipped; i++) {
        job->timing[i].is_wanted =
            i == PROGRAMS ? encoding_any(&job->config->parts.pe) : job->config->runs[i];
        all->parts += job->timing[i].is_wanted;
        all->cost += i < PROGRAMS && job->timing[i].is_wanted ? job->cost[i] : 0;
        all->around += i < PROGRAMS ? job->check[i] : 0;
        all->metered += i < PROGRAMS && job->timing[i].is_wanted && job->energy > 0;
    }
}

/* Seconds of each program whose energy is measured: of --energy some at most a quarter of all together. */
static double energy_seconds(const struct options *o, const struct whole *all, double seconds)
{
    bool limited = o->sampling.energy == ENERGY_SOME && o->sampling.runs == 0 && all->metered > 0;
    return limited ? fmin(ENERGY_SECONDS, seconds / 4 / all->metered) : ENERGY_SECONDS;
}

/*
 * Seconds of the budget for samples, without a fifth for the turns that are added where the machine changes
 * its state. Half of it is divided equally, since short programs are the noisy ones, and half in proportion
 * to the predicted cost, which is 0 for encodings because it cannot be predicted.
 */
static void share_budget(struct job *job, const struct whole *all, double seconds)
{
    const struct options *o = job->options;
    double kept = o->sampling.turns >= REPORTED_MIN ? BUDGET_KEPT : 0;
    double samples = seconds - all->around - all->parts * o->sampling.turns * estimate_around(o);
    double budget = (1 - kept) * fmax(seconds / 2, samples);
    for (size_t i = 0; i < TIMED; i++) {
        struct timing *s = &job->timing[i];
        double cost = i < PROGRAMS && all->cost > 0 ? job->cost[i] / all->cost : 0;
        s->share = s->is_wanted ? budget * (0.5 / all->parts + 0.5 * cost) : 0;
        s->earned = s->block = s->share / o->sampling.turns;
    }
}

struct job *jobs_plan(const struct job *common, const enum row_state *state, int64_t rows, double seconds)
{
    const struct options *o = common->options;
    struct job *jobs = allocate((size_t)rows, sizeof *jobs);
    struct whole all = {0};
    for (int64_t i = 0; i < rows; i++) {
        if (state[i] != ROW_KEPT)
            jobs[i] = *common;
        jobs[i].state = state[i];
        if (state[i] == ROW_KEPT)
            continue;
        jobs[i].row = i;
        jobs[i].config = &o->plan.list[i];
        jobs[i].energy = has_energy(o, i, rows) ? ENERGY_SECONDS : 0;
        find_costs(&jobs[i]);
        choose_programs(&jobs[i], &all);
    }
    double energy = energy_seconds(o, &all, seconds);
    all.around += all.metered * energy;
    for (int64_t i = 0; i < rows; i++) {
        if (state[i] != ROW_KEPT)
            share_budget(&jobs[i], &all, seconds);
        jobs[i].energy = fmin(jobs[i].energy, energy);
    }
    return jobs;
}

struct pace pace_start(const struct peaks *c)
{
    double known = c->count > 0 ? 1 : NAN;
    struct pace pace = {0};
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        pace.ratio[p] = known;
    return pace;
}

void pace_learn(struct pace *pace, const struct job *job)
{
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        const struct samples *s = measurement_samples(job->m, p);
        if (!(job->cost[p] > 0) || !s)
            continue;
        double ratio = summarize(s->seconds, (size_t)s->n).median / job->cost[p];
        pace->ratio[p] = pace->measured ? fmin(ratio, pace->ratio[p]) : ratio;
    }
    pace->measured = true;
}

/* Whether the row would take longer than --timeout, and the reason. */
static bool too_long(const struct pace *pace, const struct job *job, char reason[256])
{
    const struct options *o = job->options;
    double run = 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        if (!isnan(pace->ratio[p]))
            run += job->cost[p] * pace->ratio[p];
    double seconds = run * estimate_runs(o);
    if (o->sampling.timeout <= 0 || o->device.meta || !(seconds > o->sampling.timeout))
        return false;
    const struct calibration *c = peaks_for(job->peaks, job->config->threads);
    snprintf(reason, 256, "%d runs would take %s %.3g s, judging by the %s; --timeout is %g s",
             estimate_runs(o), pace->measured || (c && c->exceeded > 0) ? "about" : "at least", seconds,
             pace->measured ? "previous rows" : "roofline", o->sampling.timeout);
    return true;
}

/* Whether --find found no value that fits the given limit, and the reason. Without a given limit a row
 * that is not only planned runs, and says what it needs. */
static bool nothing_fits(const struct job *job, char reason[256])
{
    const struct options *o = job->options;
    bool none = job->config->unfit && (o->largest.limit > 0 || o->device.meta);
    bool memory = o->largest.kind == LARGEST_MEMORY;
    double need = job->config->searched;
    char text[QUANTITY_TEXT];
    largest_text(o, need, text);
    if (none && isfinite(need))
        snprintf(reason, 256, "--find: not even the smallest fits: it needs %s%s", text,
                 memory ? "" : " or more");
    else if (none)
        snprintf(reason, 256, "--find: not even the smallest fits");
    return none;
}

void job_open_profile(struct job *job)
{
    if (options_print_profile(job->options) || job->options->conventions)
        job->profile = open_text(&job->profile_text, &job->profile_size);
}

void job_print_profile(struct job *job, FILE *out)
{
    if (job->profile)
        fclose(job->profile);
    if (job->profile_text)
        fputs(job->profile_text, out);
    job->profile = NULL;
}

void jobs_free(struct job *jobs, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        struct job *job = &jobs[i];
        measurement_end(job->m);
        if (job->profile)
            fclose(job->profile);
        free(job->profile_text);
    }
    free(jobs);
}

bool job_is_skipped(const struct job *job, const struct pace *pace, char reason[256])
{
    return config_is_skipped(job->options, job->config, reason) || nothing_fits(job, reason) ||
           too_long(pace, job, reason);
}

/* A longer run is not repeated for a warm-up. */
static const double long_run = 0.1;

void timing_learn(struct timing *s, const struct measurement *m, size_t timed, const struct states *states)
{
    const struct samples *samples = measurement_samples(m, timed);
    if (!samples)
        return;
    struct turns turns = samples_turns(samples);
    struct reported reported = reported_choose(&turns, states);
    s->call = reported_median(&reported);
    s->reported = (int)reported.turns;
    s->turns = samples->turns;
    s->spent = samples->elapsed;
    reported_free(&reported);
}

static bool is_affordable(const struct timing *s, int turns, int turn, bool is_encoding)
{
    bool must = s->turns < TURNS_LEAST && turns - turn <= TURNS_LEAST - s->turns;
    if (is_encoding)
        must = must && s->spent + s->call <= 3 * s->share;
    return s->turns < turns && (turn == 0 || must || (s->block > 0 && s->earned - s->spent >= s->call / 2));
}

struct block_plan timing_plan(const struct timing *s, const struct sampling_options *o, int turn,
                              bool is_encoding)
{
    struct block_plan b = {.seconds = s->block, .is_long = s->call > long_run};
    if (o->runs > 0 && s->turns < o->turns)
        b.runs = o->runs / o->turns + (s->turns < o->runs % o->turns);
    b.wanted = s->is_wanted && (o->runs > 0 ? b.runs > 0 : is_affordable(s, o->turns, turn, is_encoding));
    return b;
}

bool timing_lacks_turns(const struct timing *s, const struct sampling_options *o, double left)
{
    bool possible = o->runs == 0 && o->turns >= REPORTED_MIN;
    double needs = (REPORTED_MIN - s->reported) * (s->call > s->block ? s->call : s->block);
    return s->is_wanted && possible && s->turns > 0 && s->reported < REPORTED_MIN && needs <= left / 2;
}
