/*
 * Row after row; or with --interleave in TURNS rounds, each of which takes a part of every row's samples in a
 * random order, so that what drifts in the machine lies on all rows alike (google/benchmark's random
 * interleaving). Of several devices each has its turns for itself.
 */
#include "bench/sweep.h"

#include <stdlib.h>

#include "analysis/record.h"
#include "bench/interrupt.h"
#include "bench/measure.h"
#include "bench/place.h"
#include "bench/trace.h"
#include "kernels/rng.h"

enum { TURNS = 5 };

/* A row of the plan of work. */
struct work {
    struct job job;
    bool kept; /* an earlier run left the row */
    double cost[PROGRAMS];
    struct samples taken[PROGRAMS];
};

/*
 * The share of a program in the budget: half of the budget in equal parts, since the short ones are the noisy
 * ones, and half in proportion to the predicted cost.
 */
static double share_of(const struct options *o, double cost, double total, int64_t rows)
{
    int programs = 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        programs += o->programs[p];
    return o->budget / o->device.count *
           (0.5 / (double)(rows * programs) + (total > 0 ? 0.5 * cost / total : 0));
}

static struct work *plan_work(const struct job *common, const struct resume *resume, int64_t rows)
{
    const struct options *o = common->options;
    struct work *work = calloc((size_t)rows, sizeof *work);
    double total = 0;
    int64_t missing = 0;
    for (int64_t i = 0; work && i < rows; i++) {
        work[i].kept = resume->state[i] == ROW_KEPT;
        if (work[i].kept)
            continue;
        missing++;
        work[i].job = *common;
        work[i].job.row = i;
        work[i].job.config = config_at(o, i);
        predict_costs(o, &work[i].job.config, work[i].cost);
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            total += work[i].cost[p];
    }
    for (int64_t i = 0; work && i < rows; i++)
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            if (o->programs[p] && !work[i].kept)
                work[i].job.share[p] = share_of(o, work[i].cost[p], total, missing);
    return work;
}

static void show(struct progress *p, const struct work *w, int64_t row, double part)
{
    p->row = p->before + row;
    p->nodes = w->job.config.graph.nodes;
    for (int k = 0; k < PROGRAMS; k++)
        p->remaining -= w->job.share[k] * part;
}

/* A seeded random order (Fisher and Yates); to be freed. */
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
            w->job.taken = w->taken;
            show(progress, w, order[i], 1.0 / TURNS);
            for (enum program_kind p = 0; p < PROGRAMS; p++)
                if (o->programs[p])
                    take_turn(&w->job, p, TURNS);
        }
        free(order);
    }
    return true;
}

/* Measures one configuration and hands its row, if it was finished, to the report; a profile is printed after
 * the row that it explains. */
static bool run_row(struct job *job, struct report *r, bool *good, struct message *error)
{
    char prefix[PATH_MAX];
    if (r->path && job->options->bench->whole && job->options->charts) {
        place_prefix(r->path, prefix);
        job->timeline = prefix;
    }
    char *profile = NULL;
    size_t size = 0;
    if (job->options->profile)
        job->profile = open_memstream(&profile, &size);
    json_t *row = measure(job);
    *good = row && row_is_ok(row);
    bool saved = !row || (report_row(r, job->progress->before + job->row, row, error) &&
                          (!job->trace || record_save(job->trace, job->options->trace, error->text)));
    if (job->profile)
        fclose(job->profile);
    if (profile)
        fputs(profile, job->options->format == FORMAT_TABLE ? stdout : stderr);
    free(profile);
    return saved;
}

/* The sweep on one device; `common` holds what all jobs share. */
static bool run_work(const struct job *common, struct report *r, bool *all_good, struct message *error)
{
    const struct options *o = common->options;
    int64_t rows = config_count(o);
    struct work *work = plan_work(common, r->resume, rows);
    bool turns = o->interleave && !o->device.meta;
    bool going = work && (!turns || interleave(o, work, rows, common->progress));
    if (!going)
        complain(error, "no memory for %lld rows", (long long)rows);
    for (int64_t i = 0; going && i < rows && !interrupt_signal(); i++) {
        bool good;
        if (work[i].kept) {
            *all_good &= report_kept(r, i);
            continue;
        }
        show(common->progress, &work[i], i, turns ? 0 : 1);
        going = run_row(&work[i].job, r, &good, error);
        *all_good &= good;
    }
    for (int64_t i = 0; work && i < rows; i++)
        for (int p = 0; p < PROGRAMS; p++)
            samples_free(&work[i].taken[p]);
    free(work);
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
    progress.remaining = o->budget;
    bool counting = o->count != COUNT_OFF && counters_open(&counters, &none);
    struct job common = {
        .options = o,
        .progress = &progress,
        .counters = counting ? &counters : NULL,
        .no_counters = none.text,
        .ceilings = ceilings,
        .trace = o->trace ? trace_new(json_string_value(json_object_get(r->record, "benchmark"))) : NULL};
    bool done = true;
    *all_good = true;
    for (int i = 0; done && i < o->device.count; i++)
        done = device_select(&o->device, i, error) && run_work(&common, r, all_good, error);
    json_decref(common.trace);
    if (counting)
        counters_close(&counters);
    return done;
}
