/*
 * The protocol of a row, bottom-up: row_measure visits the row and writes it; a visit opens the workload,
 * probes the machine, computes the encoding and measures every program; a program is recorded, planned,
 * loaded and sampled, and then goes through the table of passes (passes.c). Results are typed (result.h).
 */
#include "bench/row/row.h"

#include <math.h>
#include <stdio.h>

#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/row/passes.h"
#include "bench/row/result_row.h"
#include "bench/row/sampling.h"

/* Why a program is not measured; null if it is. */
static const char *why_not(const struct job *job, enum program_kind p)
{
    const struct options *o = job->options;
    if (config_runs(o, &job->config, p))
        return NULL;
    if (o->programs[p] && job->config.graph.nodes > o->model_nodes)
        return "only encoded at this size; timed if --phase is given";
    if (o->programs[p])
        return "the same for every solver: timed with the first only, or if --phase is given";
    return p == PROGRAM_KERNEL  ? "a whole model"
           : job->config.kernel ? "a single op"
                                : "not asked for (--phase)";
}

/* One visit to a row. */
struct visit {
    const struct job *job;
    int turns;   /* the fraction of the samples to take is 1 / turns */
    bool passes; /* also runs everything that follows the samples */
    double deadline;
    int programs; /* to be sampled until the deadline */
    struct workload work;
    struct result result;
};

/* The row is skipped if --timeout ended sampling too early. */
static void judge_samples(struct visit *v, enum program_kind kind)
{
    const struct options *o = v->job->options;
    int n = v->job->samples[kind].n, needed = o->sampling.runs > 0 ? o->sampling.runs : SAMPLES_MIN;
    if (n < needed && outcome_is_ok(&v->result.outcome))
        outcome_set(&v->result.outcome, "skipped",
                    "%s: only %d of %d samples within its share of --timeout, %g s", program_name(kind), n,
                    needed, o->sampling.timeout);
}

/* Stores the samples, warns of disturbances and runs the passes. resumed: sampled in an earlier visit. */
static void finish_program(struct visit *v, enum program_kind kind, struct recording *r, bool resumed)
{
    const struct samples *s = &v->job->samples[kind];
    struct program_result *p = &v->result.program[kind];
    struct target t = {v->job, &v->work, kind, r, &v->result, p};
    if (s->n == 0 || interrupt_signal())
        return;
    if (resumed) { /* the program was loaded again */
        sampling_reset(v->job->options, r->tape);
        tape_run(r->tape);
    }
    if (tape_learn(r->tape))
        result_plan(p, r->tape);
    p->samples = s;
    sampling_warn(s, program_name(kind));
    passes_run(&t);
}

static void judge_finite(struct visit *v, enum program_kind kind, const struct recording *r, bool whole)
{
    struct message error;
    if (!still_finite(r, whole, &error))
        outcome_set(&v->result.outcome, "wrong", "%s: after the timed runs %s", program_name(kind),
                    error.text);
}

static void measure_program(struct visit *v, enum program_kind kind)
{
    struct recording r = workload_record(&v->work, kind);
    result_plan(&v->result.program[kind], r.tape);
    bool meta = v->job->options->device.meta;
    if (!meta && workload_load(&v->work, kind, &r, &v->result.outcome)) {
        double now = clock_now(), until = now + (v->deadline - now) / v->programs--;
        bool resumed = v->passes && v->job->samples[kind].n > 0;
        if (!resumed) {
            sampling_turn(v->job, kind, &r, v->turns, until);
            judge_finite(v, kind, &r, clock_now() < until);
        }
        if (v->passes) {
            finish_program(v, kind, &r, resumed);
            judge_samples(v, kind);
        }
    }
    tape_free(r.tape);
}

/* An error beyond the limits makes the row wrong, whatever its status. */
static void judge_check(struct visit *v)
{
    const struct check *c = &v->result.checked.check;
    if (c->excess > 1)
        outcome_set(&v->result.outcome, "wrong", "%s: the error is %.3g times the limit", c->tensor,
                    c->excess);
}

/* Probes the machine, for at most a tenth of the row's budget, so that short rows mostly measure. */
static void look_at_machine(struct visit *v)
{
    const struct job *job = v->job;
    double seconds = job->share_encoding;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        seconds += job->share[p];
    v->result.noise = noise_probe(job->config.threads, fmin(0.05, seconds / 10));
    v->result.probed = true;
    if (job->row == 0)
        noise_warn(&v->result.noise, stderr);
}

static void note_clamped(const struct visit *v)
{
    const struct graph_config *g = &v->job->config.graph;
    if (v->work.batch.clamped)
        fprintf(stderr,
                "note: %lld nodes cannot have a mean degree of %g: the graph has all possible edges\n",
                (long long)g->nodes, g->degree);
}

/* Only in bench_model. */
static void measure_cold_start(struct visit *v)
{
    const struct options *o = v->job->options;
    struct cold_start *s = &v->result.cold_start;
    if (!o->bench->whole || o->device.meta)
        complain(&s->missing, o->device.meta ? "planned only (--device meta)" : "only in bench_model");
    else
        *s = cold_start_measure(o, &v->job->config);
    if (v->job->profile)
        cold_start_print(s, v->job->profile);
}

/* Measures an opened workload. */
static void measure_work(struct visit *v)
{
    const struct job *job = v->job;
    bool passes = v->passes;
    if (passes)
        note_clamped(v);
    if (passes && !job->options->device.meta)
        look_at_machine(v);
    bool encoded =
        workload_encode(&v->work, job->encoded, job->share_encoding, v->deadline, &v->result.outcome);
    v->result.encoded = job->encoded->samples.n > 0 ? job->encoded : NULL;
    for (enum program_kind p = 0; p < PROGRAMS && encoded && !interrupt_signal(); p++) {
        v->result.program[p].unwanted = why_not(job, p);
        if (!v->result.program[p].unwanted)
            measure_program(v, p);
    }
    if (passes && encoded)
        measure_cold_start(v);
    judge_check(v);
}

static void visit(struct visit *v)
{
    const struct job *job = v->job;
    double timeout = job->options->sampling.timeout;
    v->deadline = timeout > 0 ? clock_now() + timeout / v->turns : INFINITY;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        v->programs += !why_not(job, p);
    if (workload_open(&v->work, job->options, &job->config, &v->result.outcome)) {
        v->result.work = &v->work;
        measure_work(v);
    }
}

static struct visit begin_visit(const struct job *job, int turns, bool passes)
{
    return (struct visit){
        .job = job, .turns = turns, .passes = passes, .result = {.job = job, .outcome.status = "ok"}};
}

void row_take_turn(const struct job *job, int turns)
{
    struct visit v = begin_visit(job, turns, false);
    visit(&v);
    workload_close(&v.work);
}

struct row *row_measure(const struct job *job)
{
    struct visit v = begin_visit(job, 1, true);
    visit(&v);
    struct row *row = interrupt_signal() ? NULL : result_row(&v.result);
    workload_close(&v.work);
    return row;
}

struct row *row_skip(const struct job *job, const char *reason)
{
    struct visit v = begin_visit(job, 1, false);
    outcome_set(&v.result.outcome, "skipped", "%s", reason);
    return result_row(&v.result);
}
