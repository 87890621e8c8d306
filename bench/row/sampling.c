#include "bench/row/sampling.h"

#include <stdio.h>

/* Seconds between two GPU status queries during sampling. */
static const double look_seconds = 0.05;

void sampling_reset(const struct options *o, struct tape *t)
{
    tape_init(t);
    if (!o->cuda_graph || tape_captured(t))
        return;
    tape_run(t);
    tape_capture(t);
    tape_init(t);
}

/* The runs of the next turn out of a fixed number: 7 in 5 turns are 2, 2, 2, 1 and 0. 0: not fixed. */
static int runs_of_turn(const struct job *job, enum program_kind kind, int turns)
{
    int part = (job->options->sampling.runs + turns - 1) / turns;
    int left = job->options->sampling.runs - job->samples[kind].n;
    return part < left ? part : left;
}

void sampling_turn(const struct job *job, enum program_kind kind, const struct recording *r, int turns,
                   double deadline)
{
    const struct options *o = job->options;
    struct sampling rule = {.warmup = o->sampling.warmup,
                            .runs = o->sampling.runs > 0 ? runs_of_turn(job, kind, turns) : 0,
                            .min_samples = (o->sampling.min_samples + turns - 1) / turns,
                            .max_noise = o->sampling.max_noise,
                            .budget = job->share[kind] / turns,
                            .deadline = deadline,
                            .nvml = o->device.nvml,
                            .look = look_seconds,
                            .watch = r->loss,
                            .progress = progress_samples,
                            .context = job->progress};
    if (o->sampling.runs > 0 && rule.runs == 0)
        return;
    job->progress->program = program_name(kind);
    job->progress->share = job->share[kind];
    progress_samples(job->progress, 0, 0);
    sampling_reset(o, r->tape);
    struct samples turn = sample_tape(r->tape, &rule);
    progress_clear(job->progress);
    samples_join(&job->samples[kind], &turn);
}

void sampling_warn(const struct samples *s, const char *program)
{
    struct drift drift = drift_find(s->seconds, (size_t)s->n);
    struct slow_start slow = slow_start_find(s->seconds, (size_t)s->n);
    noise_warn_usage(&s->used, s->n, s->elapsed, program, stderr);
    noise_warn_samples(&drift, &slow, program, stderr);
    noise_warn_throttle(&s->seen, program, stderr);
}
