/*
 * The lower bound of a run's time: its FLOPs at peak speed, or its bytes at the bandwidth of the memory that
 * holds its operands, whichever is longer (bench/machine/roofline.h). It is only a prediction if a program
 * has exceeded these peak rates. A run takes its budget, or the minimum number of runs if these take longer;
 * one whose programs are short ends sooner.
 */
#include "bench/sweep/estimate.h"

#include <math.h>
#include <string.h>

#include "analysis/tables/grid.h"
#include "analysis/tables/wrap.h"
#include "bench/cli/plan.h"
#include "bench/machine/calibration.h"
#include "bench/machine/machine.h"
#include "bench/machine/roofline.h"
#include "bench/row/fields.h"
#include "bench/row/forecast.h"
#include "bench/row/sampling.h"
#include "bench/row/verify.h"
#include "bench/row/workload.h"
#include "bench/time/noise.h"
#include "models/encodings/bound.h"
#include "models/tape/listing.h"

int estimate_runs(const struct options *o)
{
    return (o->sampling.warmup < 0 ? 1 : o->sampling.warmup) + (o->sampling.runs > 0 ? o->sampling.runs
                                                                : o->sampling.turns < TURNS_LEAST
                                                                    ? o->sampling.turns
                                                                    : TURNS_LEAST);
}

/* Of the ranks, if there are several; own: that of the first. */
static int64_t largest_arena(struct workload *w, enum program_kind p, int64_t own)
{
    if (!w->group.ranks)
        return own;
    forecast_make(w, p, NULL);
    for (int r = 1; r < w->group.ranks->count; r++)
        own = w->group.facts[r].arena > own ? w->group.facts[r].arena : own;
    return own;
}

/* In w, of a row before or zero. */
static struct estimate estimate_next(struct workload *w, const struct options *o, const struct config *config,
                                     const struct calibration *c)
{
    struct estimate e = {0};
    struct message error;
    char reason[SKIP_REASON];
    e.known = workload_plan_next(w, o, config, &error) && !config_is_skipped(o, config, reason);
    e.batch = w->batch.peak;
    if (e.known && encoding_any(&config->parts.pe))
        e.encoding = encoding_likely_flops(&config->parts.pe, &w->batch);
    for (enum program_kind p = 0; p < PROGRAMS && e.known; p++) {
        e.program[p].seconds = c ? 0 : NAN;
        if (!config->runs[p])
            continue;
        struct recording r = workload_record(w, p);
        struct cost total = tape_total(r.tape);
        const struct plan *plan = tape_plan(r.tape);
        e.program[p].flops = total.flops;
        e.program[p].bytes = total.bytes;
        e.program[p].arena = largest_arena(w, p, plan->arena);
        if (c && total.flops >= 0 && total.bytes >= 0)
            e.program[p].seconds = roofline_place(c, &total, 1, plan->operands).percent / 100;
        tape_free(r.tape);
    }
    return e;
}

struct estimate estimate_row(const struct options *o, const struct config *config,
                             const struct calibration *c)
{
    struct workload w = {0};
    struct estimate e = estimate_next(&w, o, config, c);
    workload_close(&w);
    return e;
}

double estimate_least(const struct options *o)
{
    struct peaks peaks = options_kept_peaks(o);
    double seconds = 0;
    for (int64_t i = 0; i < o->plan.count; i++) {
        const struct config *c = &o->plan.list[i];
        const struct calibration *known = peaks_for(&peaks, c->threads);
        struct estimate e = estimate_row(o, c, known);
        double excess = known ? fmax(1, known->exceeded / 100) : 1; /* so that it remains a bound */
        for (enum program_kind p = 0; p < PROGRAMS; p++) {
            double runs = e.program[p].seconds * estimate_runs(o) / excess;
            seconds += c->runs[p] && o->sampling.warmup < 0 ? sampling_warm_seconds(&o->device, true) : 0;
            seconds += runs > 0 ? runs : 0;
        }
    }
    peaks_free(&peaks);
    return seconds;
}

bool estimate_is_over(const struct options *o, double seconds)
{
    return !o->device.meta && o->sampling.runs == 0 && o->sampling.timeout == 0 &&
           seconds > o->sampling.budget;
}

void estimate_time_text(char text[UNITS_TEXT], double seconds)
{
    static const double minute = 60, hour = 3600, day = 86400;
    if (isnan(seconds))
        snprintf(text, UNITS_TEXT, "unknown");
    else if (seconds < 2 * minute)
        units_format(text, seconds, UNITS_SI, "s");
    else if (seconds < 2 * hour)
        snprintf(text, UNITS_TEXT, "%.0f min", seconds / minute);
    else if (seconds < 2 * day)
        snprintf(text, UNITS_TEXT, "%.0f h", seconds / hour);
    else
        snprintf(text, UNITS_TEXT, "%.3g days", seconds / day);
}

double estimate_check(const struct options *o, const struct config *config, const struct estimate *e,
                      enum program_kind p)
{
    enum { RUNS = 2 /* of the program: by rows, and AdamW */ };
    double once = e->program[p].seconds;
    if (o->device.meta || !e->known || !config->runs[p] || !o->check.wanted)
        return 0;
    return verify_seconds(&o->check, config, (double)e->program[p].flops) + (once > 0 ? RUNS * once : 0);
}

struct whole_time {
    double least, around, checks, calibration; /* least: of the fewest samples */
};

double estimate_around(const struct options *o)
{
    static const double probes = 0.01;
    return probes + sampling_warm_seconds(&o->device, false);
}

/* Approximate speed of the reference's loops on one core: that of all of bench_kernels in results. */
static const double loops_flops_per_second = 2.5e9;

/* Seconds of a run of the reference's loops; 0: others run. */
static double loops_seconds(const struct options *o, const struct config *c, int64_t flops)
{
    const struct kernel *k = c->timed.kernel;
    bool loops = o->device.backend == &backend_ref || (k && strcmp(k->variant, "ref") == 0);
    return loops && flops > 0 ? (double)flops / loops_flops_per_second : 0;
}

static void add_row_time(struct whole_time *t, const struct options *o, const struct config *c,
                         const struct estimate *e)
{
    static const double before_row = 0.05;
    int turns = o->sampling.runs == 0 && o->sampling.turns > TURNS_LEAST ? TURNS_LEAST : o->sampling.turns;
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        double once = fmax(e->program[p].seconds, loops_seconds(o, c, e->program[p].flops));
        t->least += once > 0 ? once * estimate_runs(o) : 0;
        t->checks += estimate_check(o, c, e, p);
        if (c->runs[p])
            t->around += turns * estimate_around(o);
    }
    t->around += before_row;
}

static struct whole_time whole_time_of(const struct options *o)
{
    struct peaks_request request = options_peaks(o);
    struct peaks peaks = peaks_kept(&request);
    struct workload last = {0};
    struct whole_time t = {0};
    for (int i = 0; i < request.count && request.peak && !request.no_peaks; i++)
        if (request.calibrate || !peaks_for(&peaks, machine_threads(request.threads[i])))
            t.calibration += CALIBRATION_SECONDS;
    for (int64_t i = 0; i < o->plan.count; i++) {
        const struct config *c = &o->plan.list[i];
        struct estimate e = estimate_next(&last, o, c, peaks_for(&peaks, c->threads));
        add_row_time(&t, o, c, &e);
    }
    workload_close(&last);
    peaks_free(&peaks);
    return t;
}

void estimate_say(const struct options *o, FILE *out)
{
    struct whole_time t = whole_time_of(o);
    struct noise n = {.cores = o->cores, .threads = o->plan.list[0].threads};
    char whole[UNITS_TEXT], part[4][UNITS_TEXT], load[64] = "", over[64] = "", text[2 * MESSAGE_SIZE];
    noise_read_load("", &n);
    double slower = o->action == ACTION_RUN ? noise_slowdown(&n) : 1,
           least = slower * (t.least + t.around + t.checks) + t.calibration, budget = o->sampling.budget;
    bool fixed = o->sampling.runs > 0, fits = !fixed && least <= budget;
    estimate_time_text(whole, fits ? budget : least);
    if (slower > 1 && !fits)
        snprintf(load, sizeof load, " beside the present load of %.1f", n.load);
    if (!fixed && !fits)
        snprintf(over, sizeof over, ", more than --budget %g s", budget);
    estimate_time_text(part[0], t.least);
    estimate_time_text(part[1], t.around);
    estimate_time_text(part[2], t.checks);
    estimate_time_text(part[3], t.calibration);
    snprintf(text, sizeof text,
             "%s %s%s%s; of this at least %s of samples, %s of warm-ups and probes, up to %s of checks, %s "
             "of calibration%s",
             fits ? "--budget: up to" : "about", whole, load, over, part[0], part[1], part[2], part[3],
             fits ? "" : "; graphs, encodings and other passes are not estimated");
    wrap_text(out, text, 0, 4);
}

/* The sum over all rows. */
struct sum {
    struct workload last; /* of the row before */
    double seconds;       /* NAN: not known */
    bool encodes;
};

static void add_estimate(const struct options *o, const struct config *c, const struct peaks *peaks,
                         struct sum *all, struct grid *table)
{
    struct estimate e = estimate_next(&all->last, o, c, peaks_for(peaks, c->threads));
    char axes[AXES_TEXT], memory[UNITS_TEXT] = "unknown", text[UNITS_TEXT];
    double seconds = 0, limit = options_host_memory(o);
    int64_t arena = 0;
    bool any = false;
    fields_describe(o, c, axes);
    grid_add(table, "%s", c->work);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        bool runs = c->runs[p];
        double once = !runs ? 0 : e.known ? e.program[p].seconds : NAN;
        any = any || runs;
        seconds += once * estimate_runs(o);
        arena = e.program[p].arena > arena ? e.program[p].arena : arena;
        estimate_time_text(text, once);
        if (o->programs[p])
            grid_add(table, "%s", runs ? text : "-");
    }
    if (e.known && arena == BYTES_MOST)
        snprintf(memory, sizeof memory, "> 8 EiB");
    else if (e.known)
        units_format(memory, (double)arena, UNITS_BINARY, "B");
    estimate_time_text(text, seconds);
    all->seconds += seconds;
    all->encodes = all->encodes || encoding_any(&c->parts.pe);
    bool timed = !o->device.meta, slow = o->sampling.timeout > 0 && seconds > o->sampling.timeout;
    grid_add(table, "%s", any ? text : "-");
    grid_add(table, "%s", any ? memory : "-");
    char skipped[SKIP_REASON] = "";
    bool is_skipped = config_is_skipped(o, c, skipped);
    grid_add(table, "%s%s%s%s%s%s", axes, is_skipped ? "; skipped: " : "", skipped,
             timed && fmax((double)arena, (double)e.batch) > limit ? "; oom" : "",
             timed && slow ? "; skipped by --timeout" : "",
             estimate_is_over(o, seconds) ? "; more than --budget" : "");
}

static void print_notes(const struct options *o, const struct peaks *peaks, const struct sum *all, FILE *out)
{
    char total[UNITS_TEXT];
    int64_t rows = o->plan.count;
    estimate_time_text(total, all->seconds);
    fprintf(out, "%lld row%s: at least %d runs of each program, %s", (long long)rows, rows == 1 ? "" : "s",
            estimate_runs(o), total);
    if (o->sampling.runs == 0) /* otherwise exactly --runs samples are taken */
        fprintf(out, "; the run has a budget of %g s", o->sampling.budget);
    putc('\n', out);
    if (peaks_were_exceeded(peaks))
        fprintf(out, "time: predictions, no bounds: a program was faster than the peak rates measured %s\n",
                peaks->list[0].time);
    else if (peaks->given)
        fprintf(out,
                "time: lower bounds, from analytic FLOPs and bytes and the peak rates given (--peaks)\n");
    else if (peaks->count > 0)
        fprintf(out, "time: lower bounds, from analytic FLOPs and bytes and the peak rates measured %s\n",
                peaks->list[0].time);
    else
        fprintf(out, "time: unknown, %s\n", peaks->no_peaks);
    fprintf(out, "memory: exact, of the larger program; checking a whole program needs more\n");
    if (all->encodes)
        fprintf(out, "encodings: not included; what a solver needs is known only after it has run\n");
}

void estimate_print(const struct options *o, FILE *out)
{
    struct peaks peaks = options_kept_peaks(o);
    struct sum all = {0};
    const char *relation = peaks_were_exceeded(&peaks) ? "~" : ">=";
    struct grid table = {.columns = 4};
    grid_add(&table, "work id");
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        if (o->programs[p]) {
            grid_add(&table, "%s %s", program_name(p), relation);
            table.columns++;
        }
    grid_add(&table, "row %s", relation);
    grid_add(&table, "memory");
    grid_add(&table, "axes");
    for (int64_t i = 0; i < o->plan.count; i++)
        add_estimate(o, &o->plan.list[i], &peaks, &all, &table);
    grid_print(&table, TABLE_TERMINAL, out);
    grid_free(&table);
    workload_close(&all.last);
    print_notes(o, &peaks, &all, out);
    if (!o->device.meta)
        estimate_say(o, out);
    peaks_free(&peaks);
}

static bool list_tapes(const struct options *o, const struct config *c, struct message *error)
{
    struct workload w;
    if (!workload_plan(&w, o, c, error))
        return false;
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        if (!o->programs[p])
            continue;
        struct recording r = workload_record(&w, p);
        fprintf(o->out, "%s of %s at %lld nodes\n", program_name(p), c->model, (long long)w.batch.adj.nodes);
        tape_list(r.tape, o->out);
        tape_free(r.tape);
    }
    workload_close(&w);
    return true;
}

bool estimate_list_tapes(const struct options *o, struct message *error)
{
    bool good = true;
    for (int64_t i = 0; good && i < o->plan.count; i++)
        good = list_tapes(o, &o->plan.list[i], error);
    return good;
}
