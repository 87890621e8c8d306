/*
 * The protocol of a row, bottom-up: a turn opens the workload, samples the encoding and measures every
 * program; a program is recorded, planned, loaded and sampled, and in the first turn then goes through the
 * table of passes (passes.c). Results are typed (result.h).
 */
#include "bench/row/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h"
#include "bench/row/result_row.h"
#include "bench/row/row_resume.h"
#include "bench/show/by_convention.h"

/* Why a program is not measured; null if it is. */
static const char *why_not(const struct job *job, enum program_kind p)
{
    const struct options *o = job->options;
    if (job->config->runs[p])
        return NULL;
    if (o->programs[p] && job->config->graph.nodes > o->model_nodes)
        return "only encoded at this size; timed if --phase is given";
    if (o->programs[p])
        return "the same for every solver: timed with the first only, or if --phase is given";
    return "";
}

struct measurement {
    const struct job *job;
    bool is_open;
    bool is_cut;  /* --timeout ended sampling */
    bool is_over; /* a later turn failed: the row stands as it was before */
    struct workload work;
    struct encoded encoded;
    struct samples samples[PROGRAMS];
    struct result result;
    struct row *from; /* of an earlier run; null: none */
};

/* A turn under way. */
struct visit {
    struct measurement *row;
    const struct turn_plan *plan;
    double deadline; /* of all programs that are still to be sampled */
    int programs;    /* their number */
};

static void run_passes(struct measurement *m, enum program_kind kind, struct recording *r)
{
    struct target t = {m->job, &m->work, kind, r, &m->result, &m->result.program[kind]};
    passes_run(&t);
}

/* Runs the passes after the samples. */
static void finish_program(struct measurement *m, enum program_kind kind, struct recording *r)
{
    if (m->samples[kind].n == 0 || interrupt_signal())
        return;
    if (tape_learn(r->tape)) {
        result_plan(&m->result.program[kind], r->tape);
        result_entries(&m->result.program[kind], r->tape);
    }
    run_passes(m, kind, r);
}

static void judge_finite(struct measurement *m, enum program_kind kind, const struct recording *r, bool whole)
{
    struct message error;
    if (!still_finite(r, whole, &error))
        outcome_set(&m->result.outcome, "wrong", "%s: after the timed runs %s", program_name(kind),
                    error.text);
}

/* The table of --flop-convention. */
static void print_conventions(const struct job *job, enum program_kind kind, const struct tape *t)
{
    char title[TITLE_TEXT];
    if (!job->profile || !job->options->conventions)
        return;
    fields_title(job->options, job->config, kind, title);
    conventions_print(t, job->options->conventions, title, job->profile);
}

/* The FLOPs of the program if its graphs were batched in other ways. */
static void plan_ways(struct measurement *m, enum program_kind kind)
{
    const struct graph_result *g = &m->result.graph;
    for (enum batching way = 0; way < BATCHINGS && kind < MODEL_PROGRAMS && g->graphs > 1; way++)
        m->result.program[kind].batched[way] = workload_flops(&m->work, kind, g->work[way]);
}

/* What all ranks need, and how long they exchange. */
static void plan_ranks(struct measurement *m, enum program_kind kind)
{
    const struct job *job = m->job;
    bool planned = job->options->device.meta, several = m->work.ranks;
    struct forecast *f = &m->result.program[kind].forecast;
    if (several || (planned && job->options->links.count > 0))
        *f = forecast_make(&m->work, kind, ceilings_for(job->ceilings, job->config->threads));
    if (several && planned)
        result_group(&m->result.group, &m->result.program[kind], &m->work);
}

/* What was measured before and after a fault in the first turn. */
static void drop_program(struct measurement *m, enum program_kind kind)
{
    struct program_result *p = &m->result.program[kind];
    samples_free(&m->samples[kind]);
    profile_free(&p->profile);
    p->samples = NULL;
    memset(p->done, 0, sizeof p->done);
}

/* Samples a loaded program, and in the first turn runs the passes. */
static void measure_loaded(struct visit *v, enum program_kind kind, struct recording *r)
{
    struct measurement *m = v->row;
    result_entries(&m->result.program[kind], r->tape);
    if (m->work.ranks)
        result_group(&m->result.group, &m->result.program[kind], &m->work);
    double now = clock_now(), until = now + (v->deadline - now) / v->programs--;
    sampling_turn(m->job, v->plan, kind, r, until, &m->samples[kind]);
    bool cut = clock_now() >= until;
    m->is_cut = m->is_cut || cut;
    judge_finite(m, kind, r, !cut && !interrupt_signal());
    m->result.program[kind].samples = m->samples[kind].n > 0 ? &m->samples[kind] : NULL;
    if (v->plan->first)
        finish_program(m, kind, r);
    if (!workload_went_on(m->job->options, program_name(kind), &m->result.outcome) && v->plan->first)
        drop_program(m, kind);
}

static void measure_program(struct visit *v, enum program_kind kind)
{
    struct measurement *m = v->row;
    device_recover(&m->job->options->device);
    struct recording r = workload_record(&m->work, kind);
    result_plan(&m->result.program[kind], r.tape);
    plan_ways(m, kind);
    if (v->plan->first)
        plan_ranks(m, kind);
    if (m->job->options->device.meta) {
        run_passes(m, kind, &r);
    } else if (workload_load(&m->work, kind, &r, &m->result.outcome)) {
        measure_loaded(v, kind, &r);
    }
    if (v->plan->first)
        print_conventions(m->job, kind, r.tape);
    tape_free(r.tape);
}

/* An error beyond the limits makes the row wrong, whatever its status. */
static void judge_check(struct result *r)
{
    const struct check *c = &r->checked.check;
    if (c->excess > 1)
        outcome_set(&r->outcome, "wrong", "%s: the error is %.3g times the limit", c->tensor, c->excess);
    else if (*c->found)
        outcome_set(&r->outcome, "wrong", "%s", c->found);
}

/* Probes the machine, for at most a tenth of the row's budget, so that short rows mostly measure. */
static void look_at_machine(struct measurement *m)
{
    const struct job *job = m->job;
    double seconds = 0;
    for (size_t i = 0; i < TIMED; i++)
        seconds += job->share[i];
    m->result.noise = noise_probe(job->config->threads, fmin(0.05, seconds / 10));
    m->result.probed = true;
    if (job->row == 0) {
        progress_clear(job->progress);
        noise_warn(&m->result.noise, stderr);
    }
}

/* What the warnings about a program are about; null: about the row. */
static struct subject subject_of(const struct measurement *m, const char *program)
{
    const struct job *job = m->job;
    return (struct subject){job->warnings, job->progress->before + job->row, program};
}

static void note_clamped(const struct measurement *m)
{
    static const struct warning_kind clamped = {"note", "the graph cannot have a mean degree of %s",
                                                "it has all possible edges"};
    double degree = m->job->config->graph.degree;
    struct subject row = subject_of(m, NULL);
    if (m->work.batch.clamped)
        warnings_add(&row, &clamped, degree, "%g", degree);
}

/* A file that has both directions of its edges should not get them once more. */
static void note_repeated(const struct measurement *m)
{
    static const struct warning_kind repeated = {"note", "%s edges repeat another",
                                                 "the file has both directions, or lines twice; --graph "
                                                 "unique:PATH takes each edge once"};
    const struct graph_result *g = &m->result.graph;
    struct subject row = subject_of(m, NULL);
    struct graph_file_name file;
    if (graph_file_name(m->job->config->graph.family, &file) && file.undirected && !g->planned &&
        g->degrees.duplicates > 0)
        warnings_add(&row, &repeated, (double)g->degrees.duplicates, "%lld of %lld",
                     (long long)g->degrees.duplicates, (long long)g->edges);
}

/* Only in bench_model. */
static void measure_cold_start(struct measurement *m)
{
    const struct options *o = m->job->options;
    struct cold_start *s = &m->result.cold_start;
    if (!o->bench->whole || o->device.meta || m->work.ranks)
        complain(&s->missing, m->work.ranks && o->bench->whole ? "not with several ranks" : "");
    else
        *s = cold_start_measure(o, m->job->config);
    if (options_print_profile(o))
        cold_start_print(s, m->job->profile);
}

/* What the encoding takes at most, of a plan: the exact values are known only after it was computed. */
static void print_bound(const struct measurement *m)
{
    const struct encoding_bound *b = &m->result.graph.bound;
    char flops[UNITS_TEXT], bytes[UNITS_TEXT], peak[UNITS_TEXT], text[MESSAGE_SIZE];
    if (!options_print_profile(m->job->options) || !m->job->options->device.meta || !b->label)
        return;
    units_format(flops, (double)b->flops, UNITS_SI, "FLOP");
    units_format(bytes, (double)b->bytes, UNITS_BINARY, "B");
    units_format(peak, (double)b->peak, UNITS_BINARY, "B");
    snprintf(text, sizeof text, "upper bounds of the encoding: %s, %s minimum bytes, %s of memory (%s)",
             b->flops < 0 ? "unknown FLOPs" : flops, b->bytes < 0 ? "unknown bytes" : bytes,
             b->peak < 0 ? "unknown bytes" : peak, b->label);
    putc('\n', m->job->profile);
    wrap_text(m->job->profile, text, 0, 4);
}

bool run_has_ended(const struct options *o)
{
    return interrupt_signal() || device_fault(&o->device).kind == FAULT_LOST;
}

/* Measures an opened workload. */
static void measure_work(struct visit *v)
{
    struct measurement *m = v->row;
    const struct block_plan *encoding = &v->plan->block[PROGRAMS];
    struct sampling rule = sampling_rule(m->job, v->plan, PROGRAMS, v->deadline);
    bool again = encoding->wanted || !m->encoded.computed;
    bool encoded = workload_encode(&m->work, &m->encoded, again ? &rule : NULL, &m->result.outcome);
    m->result.encoded = m->encoded.computed ? &m->encoded : NULL;
    if (v->plan->first && m->encoded.computed)
        encode_count(&m->encoded, &m->work.config, &m->work.batch, executed_how(m->job));
    for (enum program_kind p = 0; p < PROGRAMS && encoded && !run_has_ended(m->job->options); p++) {
        m->result.program[p].unwanted = why_not(m->job, p);
        if (v->plan->block[p].wanted)
            measure_program(v, p);
    }
    print_bound(m);
    if (v->plan->first && encoded && !run_has_ended(m->job->options))
        measure_cold_start(m);
    judge_check(&m->result);
}

static bool open_workload(struct measurement *m)
{
    m->is_open = m->is_open || workload_open(&m->work, m->job->options, m->job->config, &m->result.outcome);
    if (m->is_open && !m->result.graph.known)
        result_graph(&m->result.graph, &m->work);
    return m->is_open;
}

static void visit(struct visit *v)
{
    struct measurement *m = v->row;
    if (!open_workload(m))
        return;
    if (v->plan->first) {
        note_clamped(m);
        note_repeated(m);
        if (!m->job->options->device.meta)
            look_at_machine(m);
    }
    measure_work(v);
}

void measurement_turn(struct measurement *m, const struct turn_plan *plan)
{
    double timeout = m->job->options->sampling.timeout;
    struct outcome before = m->result.outcome;
    struct visit v = {.row = m, .plan = plan};
    v.deadline = timeout > 0 ? clock_now() + timeout - measurement_spent(m) : INFINITY;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        v.programs += plan->block[p].wanted;
    if (!*m->result.started)
        utc_now(m->result.started);
    visit(&v);
    /* A later turn that had no time or memory takes nothing from the row; wrong results do. */
    if (!plan->first && !outcome_is_ok(&m->result.outcome) &&
        strcmp(m->result.outcome.status, "wrong") != 0) {
        m->result.outcome = before;
        m->is_over = true;
    }
}

/* The row is skipped if --timeout ended sampling too early. */
static struct outcome judge_samples(const struct measurement *m)
{
    const struct sampling_options *o = &m->job->options->sampling;
    struct outcome outcome = m->result.outcome;
    for (enum program_kind p = 0; p < PROGRAMS && m->is_cut; p++) {
        int n = m->samples[p].n, needed = o->runs > 0 ? o->runs : 1;
        if (!why_not(m->job, p) && n < needed && outcome_is_ok(&outcome))
            outcome_set(&outcome, "skipped", "%s: only %d of %d samples within its share of --timeout, %g s",
                        program_name(p), n, needed, o->timeout);
    }
    return outcome;
}

struct row *measurement_row(const struct measurement *m)
{
    struct outcome outcome = judge_samples(m);
    struct row *row = result_row(&m->result, &outcome);
    if (m->from)
        row = row_over(row, m->from);
    row_derive(row);
    row_judge_noise(row);
    return row;
}

struct measurement *measurement_begin(const struct job *job, const struct row *from)
{
    struct measurement *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->job = job;
    m->from = from ? row_copy(from) : NULL;
    m->result.job = job;
    m->result.outcome.status = "ok";
    if (from && from->started)
        snprintf(m->result.started, UTC_TEXT, "%s", from->started);
    for (size_t i = 0; from && i < TIMED; i++) {
        struct samples *s = i < PROGRAMS ? &m->samples[i] : &m->encoded.samples;
        samples_load(s, from, i);
        if (i < PROGRAMS && s->n > 0)
            m->result.program[i].samples = s;
    }
    return m;
}

const struct samples *measurement_samples(const struct measurement *m, size_t timed)
{
    const struct samples *s = timed < PROGRAMS ? &m->samples[timed] : &m->encoded.samples;
    return s->n > 0 ? s : NULL;
}

bool measurement_goes_on(const struct measurement *m)
{
    return outcome_is_ok(&m->result.outcome) && !m->is_cut && !m->is_over;
}

double measurement_spent(const struct measurement *m)
{
    double seconds = m->encoded.samples.spent;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        seconds += m->samples[p].spent;
    return seconds;
}

void measurement_warn(const struct measurement *m)
{
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        struct subject program = subject_of(m, program_name(p));
        if (m->samples[p].n > 0)
            sampling_warn(&m->samples[p], m->job->states, &program);
    }
}

int64_t measurement_bytes(const struct measurement *m)
{
    return m->is_open ? m->result.graph.bytes : 0;
}

void measurement_close(struct measurement *m)
{
    if (m->is_open)
        workload_close(&m->work);
    m->is_open = false;
}

void measurement_end(struct measurement *m)
{
    if (!m)
        return;
    measurement_close(m);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        samples_free(&m->samples[p]);
        profile_free(&m->result.program[p].profile);
        free(m->result.program[p].entry);
    }
    encoded_free(&m->encoded);
    row_free(m->from);
    free(m);
}

struct row *row_skip(const struct job *job, const char *reason)
{
    struct result result = {.job = job};
    outcome_set(&result.outcome, "skipped", "%s", reason);
    return result_row(&result, &result.outcome);
}
