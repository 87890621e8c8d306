/*
 * A sweep goes over its rows in turns. The first, in the order of the rows, makes complete rows; the others,
 * each in an order of its own, add samples, so that drifts and states of the machine affect all rows alike
 * (google/benchmark's random interleaving). Several devices are measured one after the other.
 */
#include "bench/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/record.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/interrupt.h"
#include "bench/base/paths.h"
#include "bench/row/row.h"
#include "bench/row/workload.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/live.h"
#include "bench/sweep/turns.h"
#include "kernels/rng.h"

/* Turns that are added for programs with too few in one state: at most this many times --turns. */
enum { MORE_TURNS = 3 };

/* Graphs are kept between turns up to this share of the memory, and generated again beyond it. */
static const double kept_share = 1.0 / 16;

/*
 * Measured time over predicted cost: the smallest ratio of the rows so far, since small rows have more
 * overhead.
 */
struct pace {
    double ratio[PROGRAMS]; /* NAN: unknown */
    bool measured;
};

/* A row of the sweep. */
struct work {
    struct job job;
    enum row_state state;
    double cost[PROGRAMS];
    struct slot slot[TIMED];
    struct states states;
    struct measurement *m; /* null: not begun, kept or skipped */
    double held;           /* bytes of its graphs */
    char *profile, *notes; /* printed after the row */
    size_t profile_size, notes_size;
};

/* The sweep on one device. */
struct run {
    const struct options *options;
    struct progress *progress;
    struct report *report;
    struct live live;
    struct work *work;
    int64_t rows;
    struct pace pace;
    double held; /* bytes of the graphs of all rows */
};

/*
 * The share of a program or an encoding in the budget: half of the budget is divided equally, since short
 * programs are the noisy ones, and half in proportion to the predicted cost, which is 0 for encodings because
 * it cannot be predicted.
 */
static double share_of(const struct options *o, double cost, double total, int64_t rows)
{
    int parts = 1; /* the encoding */
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        parts += o->programs[p];
    return o->sampling.budget / o->device.count *
           (0.5 / (double)(rows * parts) + (total > 0 ? 0.5 * cost / total : 0));
}

/* Predicted costs of the programs: seconds from the roofline; without a calibration the larger of the FLOPs
 * and an equivalent of the bytes; 0 if the graph cannot be planned. */
static void find_costs(struct work *w)
{
    static const double flops_per_byte = 10; /* a typical ridge point of a CPU */
    if (w->job.options->device.meta)
        return;
    const struct calibration *c = ceilings_for(w->job.ceilings, w->job.config.threads);
    struct estimate e = estimate_row(w->job.options, &w->job.config, c);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        double flops = (double)e.program[p].flops, bytes = (double)e.program[p].bytes;
        w->cost[p] = !e.known ? 0 : c ? e.program[p].seconds : fmax(flops, flops_per_byte * bytes);
    }
}

/* The seconds of a budget and of the first guess of a run. */
static void plan_slots(struct work *w, double total, int64_t rows)
{
    const struct options *o = w->job.options;
    for (size_t i = 0; i < TIMED; i++) {
        bool encodes = i == PROGRAMS;
        struct slot *s = &w->slot[i];
        s->is_wanted = encodes ? w->job.config.parts.pe.kind != ENCODING_NONE
                               : config_runs(o, &w->job.config, (enum program_kind)i);
        s->share = !encodes && !o->programs[i] ? 0 : share_of(o, encodes ? 0 : w->cost[i], total, rows);
        s->call = !encodes && w->job.ceilings->count > 0 ? w->cost[i] : 0;
        w->job.share[i] = s->share;
    }
}

static struct work *plan_work(const struct job *common, const enum row_state *state, int64_t rows)
{
    const struct options *o = common->options;
    struct work *work = calloc((size_t)rows, sizeof *work);
    double total = 0;
    int64_t missing = 0;
    for (int64_t i = 0; work && i < rows; i++) {
        work[i].state = state[i];
        if (state[i] == ROW_KEPT)
            continue;
        missing++;
        work[i].job = *common;
        work[i].job.row = i;
        work[i].job.config = config_at(o, i);
        work[i].job.states = &work[i].states;
        find_costs(&work[i]);
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            total += work[i].cost[p];
    }
    for (int64_t i = 0; work && i < rows; i++)
        if (state[i] != ROW_KEPT)
            plan_slots(&work[i], total, missing);
    return work;
}

static void show(struct progress *p, const struct work *w, int64_t row, double part)
{
    p->row = p->before + row;
    p->nodes = w->job.config.graph.nodes;
    for (int k = 0; k < PROGRAMS; k++)
        p->remaining -= w->job.share[k] * part;
}

/* A seeded random order (Fisher and Yates). To be freed. */
static int64_t *shuffled(int64_t count, uint64_t key)
{
    int64_t *order = malloc((size_t)count * sizeof *order);
    for (int64_t i = 0; order && i < count; i++) {
        int64_t j = (int64_t)(rng_bits(key, (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static struct pace pace_start(const struct ceilings *c)
{
    double known = c->count > 0 ? 1 : NAN;
    struct pace pace = {0};
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        pace.ratio[p] = known;
    return pace;
}

static void pace_learn(struct pace *pace, const struct work *w)
{
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        const struct samples *s = measurement_samples(w->m, p);
        if (!(w->cost[p] > 0) || !s)
            continue;
        double ratio = summarize(s->seconds, (size_t)s->n).median / w->cost[p];
        pace->ratio[p] = pace->measured ? fmin(ratio, pace->ratio[p]) : ratio;
    }
    pace->measured = true;
}

/* Whether the row would take longer than --timeout, and the reason. */
static bool too_long(const struct pace *pace, const struct work *w, char reason[256])
{
    const struct options *o = w->job.options;
    double run = 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        if (!isnan(pace->ratio[p]))
            run += w->cost[p] * pace->ratio[p];
    double seconds = run * estimate_runs(o);
    if (o->sampling.timeout <= 0 || o->device.meta || !(seconds > o->sampling.timeout))
        return false;
    snprintf(reason, 256, "%d runs would take %.3g s, judging by the %s; --timeout is %g s", estimate_runs(o),
             seconds, pace->measured ? "previous rows" : "roofline", o->sampling.timeout);
    return true;
}

/* Whether --find-max-nodes found no size that fits the given limit, and the reason. Without a given limit the
 * row itself runs and says what it needs. */
static bool nothing_fits(const struct work *w, char reason[256])
{
    const struct largest *l = &w->job.options->largest;
    bool none = l->nodes && l->limit > 0 && l->nodes[w->job.row] == 0;
    if (none)
        snprintf(reason, 256, "--find-max-nodes: not even 1 node fits");
    return none;
}

/* Opens what is printed after the row. */
static void open_texts(struct work *w, const struct report *r)
{
    struct job *job = &w->job;
    char prefix[PATH_MAX];
    job->notes = open_memstream(&w->notes, &w->notes_size);
    if (job->options->profile)
        job->profile = open_memstream(&w->profile, &w->profile_size);
    if (!job->notes || (job->options->profile && !job->profile))
        abort();
    if (r->path && job->options->bench->whole && job->options->output.charts) {
        paths_prefix(r->path, prefix);
        job->timeline = strdup(prefix);
    }
}

static void print_texts(struct work *w)
{
    struct job *job = &w->job;
    if (job->profile)
        fclose(job->profile);
    if (job->notes)
        fclose(job->notes);
    if (w->profile)
        fputs(w->profile, job->options->output.format == FORMAT_TABLE ? stdout : stderr);
    if (w->notes)
        fputs(w->notes, stderr);
    job->profile = job->notes = NULL;
}

/* Keeps the graphs of a row for its next turn, if there is room. */
static void keep_graphs(struct run *s, struct work *w)
{
    double held = (double)measurement_bytes(w->m);
    if (s->options->sampling.turns == 1 ||
        s->held - w->held + held > kept_share * workload_limit(s->options)) {
        measurement_close(w->m);
        held = 0;
    }
    s->held += held - w->held;
    w->held = held;
}

/* Takes a turn of a row. False if nothing of it takes part. */
static bool take_turn(struct run *s, struct work *w, const struct turn_plan *plan)
{
    bool any = plan->first;
    for (size_t i = 0; i < TIMED; i++)
        any = any || plan->block[i].wanted;
    if (!any)
        return false;
    measurement_turn(w->m, plan);
    keep_graphs(s, w);
    for (size_t i = 0; i < TIMED; i++)
        slot_learn(&w->slot[i], w->m, i, &w->states);
    return true;
}

static bool save_row(struct run *s, struct work *w, struct row *row, struct message *error)
{
    return report_row(s->report, s->progress->before + w->job.row, row, error);
}

static struct turn_plan plan_turn(const struct work *w, int turn)
{
    const struct sampling_options *o = &w->job.options->sampling;
    struct turn_plan plan = {.first = turn == 0 && w->state != ROW_PARTIAL};
    for (size_t i = 0; i < TIMED; i++)
        plan.block[i] = slot_plan(&w->slot[i], o, turn, i == PROGRAMS);
    return plan;
}

/* The first turn of a row: measures and reports it. Nothing is reported after a signal. */
static bool begin_row(struct run *s, struct work *w, struct message *error)
{
    char reason[256];
    bool partial = w->state == ROW_PARTIAL;
    if (!partial && (nothing_fits(w, reason) || too_long(&s->pace, w, reason)))
        return save_row(s, w, row_skip(&w->job, reason), error);
    open_texts(w, s->report);
    w->m =
        measurement_begin(&w->job, partial ? report_at(s->report, s->progress->before + w->job.row) : NULL);
    for (size_t i = 0; i < TIMED; i++)
        slot_learn(&w->slot[i], w->m, i, &w->states);
    struct turn_plan plan = plan_turn(w, 0);
    take_turn(s, w, &plan);
    if (interrupt_signal()) {
        measurement_end(w->m);
        w->m = NULL;
        return true;
    }
    pace_learn(&s->pace, w);
    return save_row(s, w, measurement_row(w->m), error);
}

/* Prints a row that takes no more turns. */
static bool finish_row(struct run *s, struct work *w, bool *all_good, struct message *error)
{
    int64_t index = s->progress->before + (w - s->work);
    *all_good &= row_is_ok(report_at(s->report, index));
    bool printed = report_print(s->report, index, w->state == ROW_KEPT, error);
    if (w->m && w->job.notes)
        measurement_warn(w->m, w->job.notes);
    print_texts(w);
    return printed;
}

static bool first_turns(struct run *s, bool *all_good, struct message *error)
{
    bool only = s->options->sampling.turns == 1;
    for (int64_t i = 0; i < s->rows && !interrupt_signal(); i++) {
        struct work *w = &s->work[i];
        if (w->state != ROW_KEPT) {
            show(s->progress, w, i, 1.0 / s->options->sampling.turns);
            if (!begin_row(s, w, error))
                return false;
        }
        if (!only || interrupt_signal())
            continue;
        if (!finish_row(s, w, all_good, error))
            return false;
        measurement_end(w->m);
        w->m = NULL;
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
            const struct work *w = &s->work[i];
            const struct samples *samples =
                w->m && w->job.config.threads == threads ? measurement_samples(w->m, t) : NULL;
            if (!samples)
                continue;
            all = realloc(all, (n + (size_t)samples->turns) * sizeof *all);
            if (!all)
                abort();
            memcpy(all + n, samples->turn, (size_t)samples->turns * sizeof *all);
            n += (size_t)samples->turns;
        }
    struct states states = states_find(all, n);
    free(all);
    return states;
}

/* Finds the states of the machine from all turns so far, for each number of threads. */
static void find_states(struct run *s)
{
    for (int64_t i = 0; i < s->rows; i++) {
        struct work *w = &s->work[i], *same = NULL;
        for (int64_t k = 0; k < i && w->m && !same; k++)
            if (s->work[k].m && s->work[k].job.config.threads == w->job.config.threads)
                same = &s->work[k];
        if (same)
            w->states = same->states;
        else if (w->m)
            w->states = states_of(s, w->job.config.threads);
        for (size_t t = 0; t < TIMED && w->m; t++)
            slot_learn(&w->slot[t], w->m, t, &w->states);
    }
}

static double seconds_left(const struct run *s)
{
    double left = s->options->sampling.budget / s->options->device.count;
    for (int64_t i = 0; i < s->rows; i++)
        left -= s->work[i].m ? measurement_spent(s->work[i].m) : 0;
    return left;
}

static struct turn_plan plan_more(const struct work *w, double left)
{
    const struct sampling_options *o = &w->job.options->sampling;
    struct turn_plan plan = {.first = false};
    for (size_t i = 0; i < TIMED; i++) {
        plan.block[i] = slot_plan(&w->slot[i], o, 0, i == PROGRAMS);
        plan.block[i].wanted = slot_lacks_turns(&w->slot[i], o, left);
    }
    return plan;
}

/* One more turn of all rows that take part. any: whether there were some. */
static bool next_turn(struct run *s, int turn, bool *any, struct message *error)
{
    const struct options *o = s->options;
    int64_t *order = shuffled(s->rows, rng_bits(rng_key(o->seed, "turns"), (uint64_t)turn));
    bool going = order || complain(error, "no memory for %lld rows", (long long)s->rows);
    *any = false;
    for (int64_t i = 0; i < s->rows && going && !interrupt_signal(); i++) {
        struct work *w = &s->work[order[i]];
        if (!w->m || !measurement_goes_on(w->m))
            continue;
        show(s->progress, w, order[i], 1.0 / o->sampling.turns);
        struct turn_plan plan = turn < o->sampling.turns ? plan_turn(w, turn) : plan_more(w, seconds_left(s));
        if (take_turn(s, w, &plan)) {
            *any = true;
            going = save_row(s, w, measurement_row(w->m), error);
        }
    }
    free(order);
    find_states(s);
    progress_clear(s->progress);
    live_show(&s->live, s->progress->before, s->rows);
    return going;
}

static bool later_turns(struct run *s, struct message *error)
{
    int turns = s->options->sampling.turns;
    bool going = true, any = true;
    find_states(s);
    live_show(&s->live, s->progress->before, s->rows);
    for (int turn = 1; turn < turns && going && !interrupt_signal(); turn++)
        going = next_turn(s, turn, &any, error);
    for (int turn = turns; any && turn < (1 + MORE_TURNS) * turns && going && !interrupt_signal(); turn++)
        going = next_turn(s, turn, &any, error);
    return going;
}

/* Reports all rows again, with the states that all turns show, and prints them. */
static bool finish_rows(struct run *s, bool *all_good, struct message *error)
{
    bool going = true;
    live_clear(&s->live);
    for (int64_t i = 0; i < s->rows && going; i++) {
        struct work *w = &s->work[i];
        if (w->m)
            going = save_row(s, w, measurement_row(w->m), error);
        if (going && report_has(s->report, s->progress->before + i))
            going = finish_row(s, w, all_good, error);
    }
    return going;
}

static void free_work(struct work *work, int64_t rows)
{
    for (int64_t i = 0; work && i < rows; i++) {
        struct work *w = &work[i];
        measurement_end(w->m);
        if (w->job.notes)
            fclose(w->job.notes);
        if (w->job.profile)
            fclose(w->job.profile);
        free(w->notes);
        free(w->profile);
        free((char *)w->job.timeline);
    }
    free(work);
}

/* The sweep on one device. */
static bool run_work(const struct job *common, struct report *r, bool *all_good, struct message *error)
{
    const struct options *o = common->options;
    struct flush flush = {0};
    struct job shared = *common;
    shared.flush = &flush;
    shared.peak = peak_of(o->device.backend);
    struct run s = {.options = o,
                    .progress = common->progress,
                    .report = r,
                    .live = {.report = r},
                    .rows = config_count(o),
                    .pace = pace_start(common->ceilings)};
    s.work = plan_work(&shared, r->resume->state + common->progress->before, s.rows);
    bool going = s.work ? first_turns(&s, all_good, error)
                        : complain(error, "no memory for %lld rows", (long long)s.rows);
    if (going && o->sampling.turns > 1)
        going = later_turns(&s, error) && finish_rows(&s, all_good, error);
    free_work(s.work, s.rows);
    flush_close(&flush);
    common->progress->before += s.rows;
    return going;
}

bool sweep(struct options *o, const struct ceilings *ceilings, struct report *r, bool *all_good,
           struct message *error)
{
    struct progress progress;
    struct counters counters;
    struct message none;
    progress_start(&progress, config_count(o) * o->device.count);
    progress.remaining = o->sampling.budget;
    bool counting = o->count != COUNT_OFF && counters_open(&counters, &none);
    struct job common = {.options = o,
                         .progress = &progress,
                         .counters = counting ? &counters : NULL,
                         .no_counters = none.text,
                         .ceilings = ceilings,
                         .trace = r->trace};
    bool done = true;
    *all_good = true;
    if (o->device.meta)
        o->sampling.turns = 1; /* nothing is timed */
    for (int i = 0; done && i < o->device.count; i++)
        done = device_select(&o->device, i, error) && run_work(&common, r, all_good, error);
    if (counting)
        counters_close(&counters);
    return done;
}
