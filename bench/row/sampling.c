#include "bench/row/sampling.h"

#include <stdlib.h>

#include "bench/base/interrupt.h"
#include "bench/row/workload.h"

/* Seconds between two GPU status queries during sampling. */
static const double look_seconds = 0.05;

/* The clocks of a device rise only under load; those of processors rose during the probes before a row. */
double sampling_warm_seconds(const struct device_choice *d, bool first)
{
    return first && d->context ? 0.1 : 0.01;
}

struct sampling sampling_rule(const struct job *job, const struct turn_plan *plan, size_t timed,
                              double deadline)
{
    const struct sampling_options *o = &job->options->sampling;
    const struct block_plan *block = &plan->block[timed];
    int part = SAMPLES_WANTED / o->turns;
    return (struct sampling){.warmup = o->warmup < 0 && block->is_long ? 0 : o->warmup,
                             .warm_seconds = sampling_warm_seconds(&job->options->device, plan->first),
                             .runs = block->runs,
                             .most = part > BLOCK_LEAST ? part : BLOCK_LEAST,
                             .budget = block->seconds,
                             .deadline = deadline,
                             .probed = job->probed,
                             .peak = job->peak,
                             .threads = job->config->threads};
}

void sampling_turn(const struct job *job, const struct turn_plan *plan, enum program_kind kind,
                   const struct recording *r, double deadline, struct samples *samples)
{
    const struct device_choice *d = &job->options->device;
    struct sampling rule = sampling_rule(job, plan, kind, deadline);
    rule.batch = samples->batch;
    rule.nvml = d->nvml;
    rule.look = look_seconds;
    rule.watch = r->loss;
    rule.progress = progress_samples;
    rule.context = job->progress;
    job->progress->program = program_name(kind);
    progress_samples(job->progress, 0, 0);
    if (rule.warmup == 0 && !d->context)
        workload_map_pages(r->tape);
    tape_init(r->tape);
    struct samples turn = sample_tape(r->tape, &rule);
    progress_clear(job->progress);
    bool is_cut = interrupt_signal() && turn.n < rule.runs; /* --resume takes the whole turn again */
    if (is_cut || tape_failed(r->tape))
        samples_free(&turn);
    else
        samples_join(samples, &turn);
}

void sampling_warn(const struct samples *s, const struct states *states, const struct subject *subject)
{
    struct turns turns = samples_turns(s);
    struct reported reported = reported_choose(&turns, states);
    size_t n;
    double *seconds = reported_values(&turns, &reported, s->seconds, &n);
    struct drift drift = drift_find(seconds, n);
    struct slow_start slow = {0};
    if (reported.is_reported[0])
        slow = slow_start_find(seconds, n);
    if (reported.others == 0) /* what was used is known of all turns together */
        noise_warn_usage(subject, &s->used, samples_runs(s), s->elapsed);
    noise_warn_samples(subject, &drift, &slow);
    noise_warn_throttle(subject, &s->seen);
    free(seconds);
    reported_free(&reported);
}
