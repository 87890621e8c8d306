/*
 * The protocol of a row, bottom-up: a turn opens the workload, samples the encoding and measures every
 * program; a program is recorded, planned, loaded and sampled, and in the first turn then goes through the
 * table of passes (passes.c). What is measured goes into the row at once, but for times: they are reported
 * again after every turn, in the state of the machine that most turns were in (timed.c).
 */
#include "bench/row/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h" /* executed_how */

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

/* An error beyond the limits makes the row wrong, whatever its status. */
static void judge_check(struct measurement *m)
{
    const struct check *c = &m->checked.check;
    if (c->excess > 1)
        outcome_set(&m->outcome, "wrong", "%s: the error is %.3g times the limit", c->tensor, c->excess);
    else if (*c->found)
        outcome_set(&m->outcome, "wrong", "%s", c->found);
}

static void write_noise(struct row *row, const struct noise *n)
{
    row->noise.load = n->load;
    if (isnan(n->load))
        row_put_reason(row, &row->noise.load, "the kernel does not say (/proc/loadavg)");
    row->noise.lost = n->lost;
    row->noise.largest_gap = n->largest_gap;
    row->noise.frequency = n->frequency > 0 ? n->frequency : NAN;
    row->noise.governor = row_keep(row, n->governor);
}

/* Probes the machine, for at most a tenth of the row's budget, so that short rows mostly measure. */
static void look_at_machine(struct measurement *m)
{
    const struct job *job = m->job;
    double seconds = 0;
    for (size_t i = 0; i < TIMED; i++)
        seconds += job->timing[i].share;
    struct noise noise = noise_probe(job->config->threads, fmin(0.05, seconds / 10));
    write_noise(m->row, &noise);
    if (job->row == 0) {
        progress_clear(job->progress);
        noise_warn(&noise, stderr);
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
    int64_t duplicates = m->row->graph.duplicates; /* absent in a plan */
    struct subject row = subject_of(m, NULL);
    struct graph_file_name file;
    if (graph_file_name(m->job->config->graph.family, &file) && file.undirected && duplicates > 0)
        warnings_add(&row, &repeated, (double)duplicates, "%lld of %lld", (long long)duplicates,
                     (long long)m->row->graph.edges);
}

static void note_file(const struct measurement *m)
{
    static const struct warning_kind kinds[] = {{"note", "%s", NULL}, {"note", "%s", NULL}};
    const char *const notes[] = {m->work.batch.notes.header, m->work.batch.notes.columns};
    struct subject row = subject_of(m, NULL);
    for (int i = 0; i < 2; i++)
        if (notes[i])
            warnings_add(&row, &kinds[i], 0, "%s", notes[i]);
}

/* Only in bench_model. */
static void measure_cold_start(struct measurement *m)
{
    const struct options *o = m->job->options;
    double seconds[COLD_START_STEPS];
    struct message reason = {"not with several ranks"};
    if (!o->bench->whole || (o->device.meta && !m->work.group.ranks))
        return;
    if (!m->work.group.ranks && cold_start_measure(o, m->job->config, seconds, &reason))
        cold_start_write(m->row, seconds);
    else
        row_omit(m->row, "cold_start", reason.text);
    if (options_print_profile(o))
        cold_start_print(m->row, m->job->profile);
}

/* What the encoding takes at most, of a plan: the exact values are known only after it was computed. */
static void print_bound(const struct measurement *m)
{
    const struct row *row = m->row;
    int64_t most_flops = row->encoding.bound.flops, most_bytes = row->encoding.bound.bytes,
            most = row->encoding.bound.peak;
    char flops[UNITS_TEXT], bytes[UNITS_TEXT], peak[UNITS_TEXT], text[MESSAGE_SIZE];
    if (!options_print_profile(m->job->options) || !m->job->options->device.meta ||
        !row->encoding.bound.label)
        return;
    units_format(flops, (double)most_flops, UNITS_SI, "FLOP");
    units_format(bytes, (double)most_bytes, UNITS_BINARY, "B");
    units_format(peak, (double)most, UNITS_BINARY, "B");
    snprintf(text, sizeof text, "upper bounds of the encoding: %s, %s minimum bytes, %s of memory (%s)",
             most_flops < 0 ? "unknown FLOPs" : flops, most_bytes < 0 ? "unknown bytes" : bytes,
             most < 0 ? "unknown bytes" : peak, row->encoding.bound.label);
    putc('\n', m->job->profile);
    wrap_text(m->job->profile, text, 0, 4);
}

bool run_has_ended(const struct device_choice *d)
{
    return interrupt_signal() || device_fault(d).kind == FAULT_LOST;
}

static void measure_work(struct open_turn *v)
{
    struct measurement *m = v->measurement;
    const struct block_plan *encoding = &v->plan->block[PROGRAMS];
    struct sampling rule = sampling_rule(m->job, v->plan, PROGRAMS, v->deadline);
    bool again = encoding->wanted || !m->encoded.computed;
    bool encoded = workload_encode(&m->work, &m->encoded, again ? &rule : NULL, &m->outcome);
    if (m->encoded.computed)
        encode_write(m->row, &m->encoded, &m->work.config.parts.pe, m->job->options->device.backend->device);
    if (v->plan->later && m->encoded.computed && !executed_why_not(m->job))
        encode_count(m->row, &m->encoded, &m->work.config, &m->work.batch, executed_how(m->job));
    for (enum program_kind p = 0; p < PROGRAMS && encoded && !run_has_ended(&m->job->options->device); p++) {
        const char *reason = why_not(m->job, p);
        if (reason && *reason)
            row_omit(m->row, program_name(p), reason);
        if (v->plan->block[p].wanted || (v->plan->later && m->program[p].samples.n > 0))
            measure_program(v, p);
    }
    print_bound(m);
    if (v->plan->first && encoded && !run_has_ended(&m->job->options->device))
        measure_cold_start(m);
    judge_check(m);
}

static bool open_workload(struct measurement *m)
{
    m->is_open = m->is_open || workload_open(&m->work, m->job->options, m->job->config, &m->outcome);
    if (m->is_open && !m->is_described)
        fields_batch(m->row, &m->work);
    m->is_described = m->is_open;
    return m->is_open;
}

static void run_turn(struct open_turn *v)
{
    struct measurement *m = v->measurement;
    if (!open_workload(m))
        return;
    if (v->plan->first) {
        note_clamped(m);
        note_repeated(m);
        note_file(m);
        if (!m->job->options->device.meta)
            look_at_machine(m);
    }
    measure_work(v);
}

static double spent(const struct measurement *m)
{
    double seconds = m->encoded.samples.spent;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        seconds += m->program[p].samples.spent;
    return seconds;
}

void measurement_turn(struct measurement *m, const struct turn_plan *plan)
{
    double timeout = m->job->options->sampling.timeout;
    struct outcome before = m->outcome;
    char now[UTC_TEXT];
    struct open_turn v = {.measurement = m, .plan = plan};
    v.deadline = timeout > 0 ? clock_now() + timeout - spent(m) : INFINITY;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        v.programs += plan->block[p].wanted;
    if (!m->row->started) {
        utc_now(now);
        m->row->started = row_keep(m->row, now);
    }
    run_turn(&v);
    /* A later turn that had no time, memory or device takes nothing from the row; wrong results and faults of
     * plug-ins do. */
    bool failed = strcmp(m->outcome.status, "failed") == 0 && !device_fault(&m->job->options->device).kind;
    if (!plan->first && !outcome_is_ok(&m->outcome) && strcmp(m->outcome.status, "wrong") != 0 && !failed) {
        m->outcome = before;
        m->is_over = true;
    }
}

void measurement_finish(struct measurement *m)
{
    static const struct turn_plan rest = {.later = true};
    if (!outcome_is_ok(&m->outcome) || m->is_over)
        return;
    if (passes_are_later(m->job)) {
        measurement_turn(m, &rest);
        return;
    }
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        struct target t = {
            .job = m->job, .kind = p, .later = true, .row = m->row, .to = row_program(m->row, p)};
        if (m->program[p].samples.n > 0)
            passes_run(&t);
    }
    const char *reason = executed_why_not(m->job);
    if (m->encoded.computed && reason && *reason)
        row_put_reason(m->row, &m->row->encoding.executed, reason);
}

/* The row is skipped if --timeout ended sampling too early. */
static struct outcome judge_samples(const struct measurement *m)
{
    const struct sampling_options *o = &m->job->options->sampling;
    struct outcome outcome = m->outcome;
    for (enum program_kind p = 0; p < PROGRAMS && m->is_cut; p++) {
        int n = m->program[p].samples.n, needed = o->runs > 0 ? o->runs : 1;
        if (!why_not(m->job, p) && n < needed && outcome_is_ok(&outcome))
            outcome_set(&outcome, "skipped", "%s: only %d of %d samples within its share of --timeout, %g s",
                        program_name(p), n, needed, o->timeout);
    }
    return outcome;
}

/* The row of a configuration; from: what was measured before, or null. */
static struct row *row_of(const struct job *job, const struct row *from)
{
    struct row *row = from ? row_copy(from) : row_new();
    if (!from)
        row->checked = row_keep(row, "none");
    fields_config(row, job->config, job->options);
    return row;
}

struct row *measurement_row(const struct measurement *m)
{
    static const char *const of_work[] = {"flops", "bytes",     "bytes_no_reuse", "roofline",
                                          "bound", "predicted", "profile.flops",  "profile.bytes"};
    struct outcome outcome = judge_samples(m);
    struct row *row = row_copy(m->row);
    row->status = row_keep(row, outcome.status);
    row->reason = row_keep(row, outcome.reason.text);
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        timed_write(row, m->job, p, &m->program[p]);
    if (m->encoded.computed && m->encoded.samples.n > 0)
        timed_write_encoding(row, m->job, &m->encoded.samples);
    if (!m->is_resumed) /* results are checked with the first turn */
        verify_write(row, &m->checked, m->encoded.computed ? &m->encoded : NULL);
    bool of_others = m->job->config->timed.kernel && m->job->config->timed.form.op == OP_function;
    for (size_t i = 0; i < sizeof of_work / sizeof *of_work && of_others; i++)
        row_omit_of(row, PROGRAM_KERNEL, of_work[i], "what a function of others does is not known");
    row_derive(row);
    return row;
}

struct measurement *measurement_begin(const struct job *job, const struct row *from)
{
    struct measurement *m = allocate(1, sizeof *m);
    m->job = job;
    m->is_resumed = from;
    m->outcome.status = "ok";
    m->row = row_of(job, from);
    for (size_t i = 0; from && i < TIMED; i++)
        timed_load(i < PROGRAMS ? &m->program[i].samples : &m->encoded.samples, from, i);
    return m;
}

const struct samples *measurement_samples(const struct measurement *m, size_t timed)
{
    const struct samples *s = timed < PROGRAMS ? &m->program[timed].samples : &m->encoded.samples;
    return s->n > 0 ? s : NULL;
}

bool measurement_goes_on(const struct measurement *m)
{
    return outcome_is_ok(&m->outcome) && !m->is_cut && !m->is_over;
}

void measurement_warn(const struct measurement *m)
{
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        const struct samples *s = measurement_samples(m, p);
        struct subject program = subject_of(m, program_name(p));
        if (s)
            sampling_warn(s, &m->job->states, &program);
    }
}

int64_t measurement_bytes(const struct measurement *m)
{
    return m->is_open ? m->row->graph.bytes : 0;
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
        samples_free(&m->program[p].samples);
        free(m->program[p].entry);
    }
    encoded_free(&m->encoded);
    row_free(m->row);
    free(m);
}

struct row *row_skip(const struct job *job, const char *reason)
{
    struct row *row = row_of(job, NULL);
    row->status = row_keep(row, "skipped");
    row->reason = row_keep(row, reason);
    return row;
}
