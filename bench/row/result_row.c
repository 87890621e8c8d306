/* Converts typed results to the fields of a row, and derives rates and roofline percentages. */
#include "bench/row/result_row.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/statistics.h"
#include "bench/machine/roofline.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h"
#include "bench/row/program_fields.h"

/* --- the graphs and the machine */

static void write_degrees(struct row *row, struct degrees d)
{
    row_set_count(row, "graph.degree_min", d.min);
    row_set_count(row, "graph.degree_median", d.median);
    row_set_count(row, "graph.degree_p99", d.p99);
    row_set_count(row, "graph.degree_max", d.max);
    row_set_real(row, "graph.degree_std", d.std);
    row_set_count(row, "graph.isolated", d.isolated);
    row_set_count(row, "graph.self_loops", d.self_loops);
    row_set_count(row, "graph.duplicates", d.duplicates);
}

static void write_batch(struct row *row, const struct graph_result *g)
{
    row_set_count(row, "nodes", g->nodes / g->graphs); /* known only after a */
    row_set_count(row, "batch", g->graphs);            /* file has been read */
    row_set_count(row, "graph.nodes", g->nodes);
    row_set_count(row, "graph.edges", g->edges);
    row_set_count(row, "graph.pairs", g->pairs);
    for (enum batching way = BATCHING_PADDED; way < BATCHINGS; way++) {
        char pairs[SCHEMA_PATH], rows[SCHEMA_PATH];
        snprintf(pairs, sizeof pairs, "graph.%s_pairs", batching_name((int)way));
        snprintf(rows, sizeof rows, "graph.%s_rows", batching_name((int)way));
        row_set_count_or_null(row, pairs, g->work[way].pairs);
        row_set_count(row, rows, g->work[way].rows);
    }
    row_set_count(row, "graph.bytes", g->bytes);
    if (g->planned)
        return;
    write_degrees(row, g->degrees);
    row_set_count(row, "graph.bandwidth", g->bandwidth);
    if (g->order_seconds > 0)
        row_set_real(row, "graph.order_seconds", g->order_seconds);
}

static void write_noise(struct row *row, const struct noise *n)
{
    row_set_real(row, "noise.load", n->load);
    row_set_real(row, "noise.lost", n->lost);
    row_set_real(row, "noise.largest_gap", n->largest_gap);
    if (n->frequency > 0)
        row_set_real(row, "noise.frequency", n->frequency);
    if (*n->governor)
        row_set_text(row, "noise.governor", n->governor);
}

/* --- a program */

static void set_bytes(struct row *row, enum program_kind kind, const char *field, int64_t bytes)
{
    program_set_count(row, kind, field, bytes < BYTES_MOST ? bytes : -1);
}

static void write_memory(struct row *row, enum program_kind kind, const struct program_result *p)
{
    const struct plan *plan = &p->plan;
    set_bytes(row, kind, "memory.planned", plan->arena);
    set_bytes(row, kind, "memory.peak_live", plan->peak);
    set_bytes(row, kind, "memory.average", plan->average);
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++) {
        char field[40];
        snprintf(field, sizeof field, "memory.%s", category_name(c));
        set_bytes(row, kind, field, plan->at_peak[c]);
    }
    program_set_text(row, kind, "memory.peak_op", p->peak_op);
}

/* What other ways of batching would compute. */
static void write_ways(struct row *row, enum program_kind kind, const struct program_result *p,
                       const struct graph_result *g)
{
    for (enum batching way = 0; way < BATCHINGS && kind != PROGRAM_KERNEL && g->graphs > 1; way++) {
        char field[40];
        snprintf(field, sizeof field, "flops.%s", batching_name((int)way));
        program_set_count(row, kind, field, p->batched[way]);
    }
}

static void write_costs(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct cost total = result_cost(p);
    for (enum phase phase = PHASE_FORWARD + 1; phase < PHASES && kind == PROGRAM_STEP; phase++) {
        char field[40];
        snprintf(field, sizeof field, "%s.flops", phase_name(phase));
        program_set_count(row, kind, field, p->cost[phase].flops);
        snprintf(field, sizeof field, "%s.bytes", phase_name(phase));
        program_set_count(row, kind, field, p->cost[phase].bytes);
    }
    program_set_count(row, kind, "flops.analytic", total.flops);
    for (enum convention c = CONVENTION_FULL + 1; c < CONVENTIONS; c++) {
        char field[40];
        snprintf(field, sizeof field, "flops.%s", convention_name(c));
        program_set_count(row, kind, field, p->convention[c]);
    }
    program_set_count(row, kind, "bytes", total.bytes);
    program_set_count(row, kind, "bytes_no_reuse", total.no_reuse);
}

/* Removes what is NAN and returns how many remain. */
static size_t keep_known(double *values, size_t n)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    return known;
}

/* The statistics of a phase in some turns; r: which of them are reported. */
static void write_phase(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    struct reported part = reported_part(t, r);
    row_set_part_times(row, group, t, &part);
    reported_free(&part);
}

/* The same in runs launched beside replays of a graph, as one turn. */
static void write_launched_phase(struct row *row, const char *group, const double *seconds, int n)
{
    static const struct states none;
    struct turn turn = {(size_t)n, {{NAN, NAN}}, {{NAN, NAN}}};
    struct turns turns = {1, &turn, seconds};
    struct reported r = reported_choose(&turns, &none);
    write_phase(row, group, &turns, &r);
    reported_free(&r);
}

static bool all_known(const double *values, int n)
{
    int known = 0;
    while (known < n && !isnan(values[known]))
        known++;
    return known == n;
}

/* Of the samples, or if these are replays of a graph, of the runs launched beside them. */
static void write_phases(struct row *row, enum program_kind kind, const struct program_result *result,
                         const struct reported *r)
{
    static const char *const groups[PHASES] = {[PHASE_BACKWARD] = "step.backward.statistics",
                                               [PHASE_OPTIMIZER] = "step.optimizer.statistics",
                                               [PHASE_RECOMPUTE] = "step.recompute.statistics"};
    static const char *const fields[PHASES] = {[PHASE_BACKWARD] = "backward.time",
                                               [PHASE_OPTIMIZER] = "optimizer.time",
                                               [PHASE_RECOMPUTE] = "recompute.time"};
    const struct samples *s = result->samples;
    const struct launched *l = &result->launched;
    for (enum phase p = PHASE_FORWARD + 1; p < PHASES && kind == PROGRAM_STEP; p++) {
        struct turns turns = samples_turns(s);
        turns.samples = s->phase[p];
        size_t n;
        if (p == PHASE_RECOMPUTE && result->cost[p].bytes == 0)
            continue;
        double *seconds = reported_values(&turns, r, s->phase[p], &n);
        n = keep_known(seconds, n);
        if (n > 0)
            program_set_real(row, kind, fields[p], summarize(seconds, n).median);
        else if (l->n > 0)
            program_set_real(row, kind, fields[p], summarize(l->phase[p], (size_t)l->n).median);
        else
            program_omit(row, kind, fields[p], "replayed as one graph (--no-cuda-graph)");
        if (all_known(s->phase[p], s->n))
            write_phase(row, groups[p], &turns, r);
        else if (n == 0 && l->n > 0)
            write_launched_phase(row, groups[p], l->phase[p], l->n);
        free(seconds);
    }
}

static void write_times(struct row *row, enum program_kind kind, const struct program_result *p,
                        const struct reported *r)
{
    char path[SCHEMA_PATH];
    const struct samples *s = p->samples;
    struct turns turns = samples_turns(s);
    row_set_times(row, program_path(path, kind, "time"), &turns, r);
    program_set_count(row, kind, "time.warmup", s->warmup);
    program_set_real(row, kind, "time.cpu", s->used.cpu / (double)(s->n + s->seen.discarded));
    program_set_count(row, kind, "noise.minor_faults", s->used.minor_faults);
    program_set_count(row, kind, "noise.major_faults", s->used.major_faults);
    program_set_count(row, kind, "noise.voluntary", s->used.voluntary);
    program_set_count(row, kind, "noise.involuntary", s->used.involuntary);
    write_phases(row, kind, p, r);
}

/* The ceilings for the state in which a program is reported; null with the reason if there are none. */
static const struct calibration *ceilings_of(const struct result *r, const struct program_result *p,
                                             const struct reported *reported, const char **missing)
{
    struct turns turns = samples_turns(p->samples);
    struct cost cost = result_cost(p);
    const struct calibration *c = ceilings_in(r->job->ceilings, r->job->config.threads, turns.list,
                                              turns.count, &reported->state, missing);
    if (r->group.count > 0)
        *missing = "not with several ranks";
    else if (c && reported->unsettled)
        *missing = "the machine was disturbed, or its state changed, in every turn";
    else if (c && (cost.flops < 0 || cost.bytes < 0 || p->plan.operands == BYTES_MOST))
        *missing = "the work exceeds 63 bits";
    else
        return c;
    return NULL;
}

static void write_roofline(struct row *row, enum program_kind kind, const struct program_result *p,
                           double median, const struct calibration *c)
{
    struct cost cost = result_cost(p);
    struct roofline r = roofline_place(c, &cost, median, p->plan.operands);
    struct message fault;
    roofline_fault(&r, c, &fault);
    program_set_text(row, kind, "roofline.level", memory_level_name(r.level));
    program_set_text(row, kind, "roofline.bound", bound_name(r.bound));
    program_set_real(row, kind, "roofline.attainable", r.attainable);
    program_set_real(row, kind, "roofline.percent", r.percent);
    program_set_text(row, kind, "roofline.calibrated", c->time);
    program_set_text(row, kind, "roofline.fault", fault.text);
    /* With cold caches the working set is in the outermost level. */
    if (p->cold.n > 0)
        program_set_real(row, kind, "cold.percent",
                         roofline_place(c, &cost, p->cold.median, INT64_MAX).percent);
}

/* What good kernels take, in the same state. */
static void write_bound(struct row *row, enum program_kind kind, const struct program_result *p,
                        const struct calibration *c)
{
    double bound = 0;
    for (int i = 0; i < p->entries; i++)
        bound += roofline_bound(c, &p->entry[i]);
    program_set_real(row, kind, "bound.time", bound);
}

static void write_timed(struct row *row, const struct result *r, enum program_kind kind)
{
    const struct program_result *p = &r->program[kind];
    struct turns turns = samples_turns(p->samples);
    struct reported reported = reported_choose(&turns, r->job->states);
    double median = reported_median(&reported);
    const char *missing;
    const struct calibration *c = ceilings_of(r, p, &reported, &missing);
    write_times(row, kind, p, &reported);
    passes_write(row, kind, p);
    if (c) {
        write_roofline(row, kind, p, median, c);
        write_bound(row, kind, p, c);
    } else {
        program_omit(row, kind, "roofline", missing);
        program_omit(row, kind, "bound", missing);
    }
    if (!c && p->cold.n > 0)
        program_omit(row, kind, "cold.percent", missing);
    if (kind == PROGRAM_STEP)
        row_set_real(row, "loss", p->samples->first);
    reported_free(&reported);
}

static void write_program(struct row *row, const struct result *r, enum program_kind kind)
{
    const struct program_result *p = &r->program[kind];
    if (p->unwanted && *p->unwanted)
        row_omit(row, program_name(kind), p->unwanted);
    if (!p->planned)
        return;
    write_memory(row, kind, p);
    write_costs(row, kind, p);
    write_ways(row, kind, p, &r->graph);
    if (p->samples)
        write_timed(row, r, kind);
    else
        passes_write(row, kind, p); /* of the plan */
}

/* --- the row */

/* Why the encoding could not be checked; empty if it was, or if there is none. */
static const char *encoding_unchecked(const struct encoded *e)
{
    return e && e->is_checked && !*e->checked.text ? e->check.missing : "";
}

static void write_checked(struct row *row, const struct checked *c, const struct encoded *encoded)
{
    char exceptions[CHECK_EXCEPTIONS_TEXT];
    const char *missing = *c->missing ? c->missing : encoding_unchecked(encoded);
    row_set_text(row, "checked", *missing || c->check.tensors == 0 ? "none" : c->by_rows ? "rows" : "whole");
    if (*missing)
        row_explain(row, "checked", missing);
    if (c->check.tensors == 0)
        return;
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", c->how, *c->missing ? "; " : "", c->missing);
    row_set_real(row, "error.norm", c->check.norm);
    row_set_real(row, "error.worst_row", c->check.worst_row);
    row_set_text(row, "error.checked", text);
    row_set_text(row, "error.tensor", c->check.tensor);
    check_exceptions(&c->check, exceptions);
    row_set_text(row, "error.exceptions", exceptions);
}

static void write_encoding(struct row *row, const struct result *r)
{
    const struct config *c = &r->job->config;
    if (c->parts.pe.kind != ENCODING_NONE)
        fields_encoding_bound(row, &r->graph.bound, r->graph.encoding_storage);
    if (!r->encoded)
        return;
    struct turns turns = samples_turns(&r->encoded->samples);
    struct reported reported = reported_choose(&turns, r->job->states);
    row_set_times(row, "encoding.time", &turns, &reported);
    reported_free(&reported);
    fields_encoding(row, r->encoded, &c->parts.pe, r->job->options->device.backend->device);
}

static void write_work(struct row *row, const struct result *r)
{
    write_batch(row, &r->graph);
    fields_ranks(row, r);
    if (r->probed)
        write_noise(row, &r->noise);
    write_encoding(row, r);
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        write_program(row, r, p);
    cold_start_write(row, &r->cold_start);
    write_checked(row, &r->checked, r->encoded);
}

struct row *result_row(const struct result *r, const struct outcome *outcome)
{
    struct row *row = row_new();
    row_set_text(row, "status", outcome->status);
    row_set_text(row, "reason", outcome->reason.text);
    row_set_text(row, "checked", "none");
    fields_config(row, &r->job->config, r->job->options);
    if (r->graph.known) {
        row_set_count(row, "parameters", r->graph.parameters);
        row_set_text(row, "graph.inputs", r->graph.inputs);
        write_work(row, r);
    }
    return row;
}
