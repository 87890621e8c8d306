/*
 * Rows are measured one after the other, or with --interleave first sampled in TURNS rounds: each takes a
 * part of every row's samples, in random order, so that drifts of the machine affect all rows alike
 * (google/benchmark's random interleaving). Several devices are measured one after the other, each with its
 * own rounds.
 */
#include "bench/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/record/record.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/interrupt.h"
#include "bench/base/paths.h"
#include "bench/row/row.h"
#include "bench/sweep/estimate.h"
#include "kernels/rng.h"

enum { TURNS = 5 };

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
    bool kept; /* from an earlier run (--resume) */
    double cost[PROGRAMS];
    struct samples samples[PROGRAMS];
    struct encoded encoded;
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
    const struct calibration *c = ceilings_for(w->job.ceilings, w->job.config.threads);
    struct estimate e = estimate_row(w->job.options, &w->job.config, c);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        double flops = (double)e.program[p].flops, bytes = (double)e.program[p].bytes;
        w->cost[p] = !e.known ? 0 : c ? e.program[p].seconds : fmax(flops, flops_per_byte * bytes);
    }
}

static struct work *plan_work(const struct job *common, const enum row_state *state, int64_t rows)
{
    const struct options *o = common->options;
    struct work *work = calloc((size_t)rows, sizeof *work);
    double total = 0;
    int64_t missing = 0;
    for (int64_t i = 0; work && i < rows; i++) {
        work[i].kept = state[i] == ROW_KEPT;
        if (work[i].kept)
            continue;
        missing++;
        work[i].job = *common;
        work[i].job.row = i;
        work[i].job.config = config_at(o, i);
        find_costs(&work[i]);
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            total += work[i].cost[p];
    }
    for (int64_t i = 0; work && i < rows; i++) {
        work[i].job.encoded = &work[i].encoded;
        work[i].job.samples = work[i].samples;
        work[i].job.share_encoding = share_of(o, 0, 0, missing);
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            if (o->programs[p] && !work[i].kept)
                work[i].job.share[p] = share_of(o, work[i].cost[p], total, missing);
    }
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

static bool interleave(const struct options *o, struct work *work, int64_t rows, struct progress *progress)
{
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t *order = shuffled(rows, rng_bits(rng_key(o->seed, "interleave"), (uint64_t)turn));
        if (!order)
            return false;
        for (int64_t i = 0; i < rows && !interrupt_signal(); i++) {
            struct work *w = &work[order[i]];
            if (w->kept)
                continue;
            show(progress, w, order[i], 1.0 / TURNS);
            row_take_turn(&w->job, TURNS);
        }
        free(order);
    }
    return true;
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
        const struct samples *s = &w->samples[p];
        if (!(w->cost[p] > 0) || s->n == 0)
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

/* Measures one configuration and reports its row, if it was finished. A profile is printed after its row. */
static bool run_row(struct work *w, struct pace *pace, struct report *r, bool *good, struct message *error)
{
    struct job *job = &w->job;
    char prefix[PATH_MAX], *profile = NULL, reason[256];
    if (r->path && job->options->bench->whole && job->options->output.charts) {
        paths_prefix(r->path, prefix);
        job->timeline = prefix;
    }
    size_t size = 0;
    if (job->options->profile)
        job->profile = open_memstream(&profile, &size);
    bool skipped = nothing_fits(w, reason) || too_long(pace, w, reason);
    struct row *row = skipped ? row_skip(job, reason) : row_measure(job);
    if (!skipped)
        pace_learn(pace, w);
    bool made = row != NULL;
    *good = made && row_is_ok(row);
    bool saved = !made || report_row(r, job->progress->before + job->row, row, error);
    if (job->profile)
        fclose(job->profile);
    if (profile && made)
        fputs(profile, job->options->output.format == FORMAT_TABLE ? stdout : stderr);
    free(profile);
    return saved;
}

/* The sweep on one device. */
static bool run_work(const struct job *common, struct report *r, bool *all_good, struct message *error)
{
    const struct options *o = common->options;
    int64_t rows = config_count(o);
    struct flush flush = {0};
    struct job shared = *common;
    shared.flush = &flush;
    struct work *work = plan_work(&shared, r->resume->state + common->progress->before, rows);
    bool turns = o->sampling.interleave && !o->device.meta;
    bool going = work && (!turns || interleave(o, work, rows, common->progress));
    if (!going)
        complain(error, "no memory for %lld rows", (long long)rows);
    struct pace pace = pace_start(common->ceilings);
    for (int64_t i = 0; going && i < rows && !interrupt_signal(); i++) {
        bool good;
        if (work[i].kept) {
            *all_good &= report_kept(r, common->progress->before + i);
            continue;
        }
        show(common->progress, &work[i], i, turns ? 0 : 1);
        going = run_row(&work[i], &pace, r, &good, error);
        *all_good &= good;
    }
    for (int64_t i = 0; work && i < rows; i++) {
        for (int p = 0; p < PROGRAMS; p++)
            samples_free(&work[i].samples[p]);
        encoded_free(&work[i].encoded);
    }
    free(work);
    flush_close(&flush);
    common->progress->before += rows;
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
    for (int i = 0; done && i < o->device.count; i++)
        done = device_select(&o->device, i, error) && run_work(&common, r, all_good, error);
    if (counting)
        counters_close(&counters);
    return done;
}
