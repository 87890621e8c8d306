/* Converts typed results to the fields of a row, and derives rates and roofline percentages. */
#include "bench/row/result_row.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/statistics.h"
#include "bench/machine/roofline.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h"
#include "bench/row/put.h"

/* --- the graphs and the machine */

static void write_degrees(struct row *row, struct degrees d)
{
    row->graph.degree_min = d.min;
    row->graph.degree_median = d.median;
    row->graph.degree_p99 = d.p99;
    row->graph.degree_max = d.max;
    put_real(row, &row->graph.degree_std, d.std);
    row->graph.isolated = d.isolated;
    row->graph.self_loops = d.self_loops;
    row->graph.duplicates = d.duplicates;
}

/* Other ways to batch the graphs. */
static void write_batching(struct row *row, const struct graph_result *g)
{
    put_count(row, &row->graph.padded_pairs, g->work[BATCHING_PADDED].pairs);
    put_count(row, &row->graph.bucketed_pairs, g->work[BATCHING_BUCKETED].pairs);
    put_count(row, &row->graph.packed_pairs, g->work[BATCHING_PACKED].pairs);
    row->graph.padded_rows = g->work[BATCHING_PADDED].rows;
    row->graph.bucketed_rows = g->work[BATCHING_BUCKETED].rows;
    row->graph.packed_rows = g->work[BATCHING_PACKED].rows;
}

static void write_batch(struct row *row, const struct graph_result *g)
{
    row->nodes = g->nodes / g->graphs; /* known only after a */
    row->batch = g->graphs;            /* file has been read */
    row->graph.nodes = g->nodes;
    row->graph.edges = g->edges;
    row->graph.pairs = g->pairs;
    if (g->graphs > 1)
        write_batching(row, g);
    row->graph.bytes = g->bytes;
    if (g->planned)
        return;
    write_degrees(row, g->degrees);
    row->graph.bandwidth = g->bandwidth;
    if (g->order_seconds > 0)
        put_real(row, &row->graph.order_seconds, g->order_seconds);
}

static void write_noise(struct row *row, const struct noise *n)
{
    put_real(row, &row->noise.load, n->load);
    put_real(row, &row->noise.lost, n->lost);
    put_real(row, &row->noise.largest_gap, n->largest_gap);
    if (n->frequency > 0)
        put_real(row, &row->noise.frequency, n->frequency);
    if (*n->governor)
        row->noise.governor = row_keep(row, n->governor);
}

/* --- a program */

static void put_bytes(struct row *row, int64_t *member, int64_t bytes)
{
    put_count(row, member, bytes < BYTES_MOST ? bytes : -1);
}

static void write_memory(struct row *row, struct row_program *to, const struct program_result *p)
{
    int64_t *const at_peak[MEMORY_CATEGORIES] = {
        [MEMORY_PARAMETERS] = &to->memory.parameters,   [MEMORY_GRADIENTS] = &to->memory.gradients,
        [MEMORY_OPTIMIZER] = &to->memory.optimizer,     [MEMORY_GRAPH] = &to->memory.graph,
        [MEMORY_ENCODINGS] = &to->memory.encodings,     [MEMORY_STATE] = &to->memory.state,
        [MEMORY_ACTIVATIONS] = &to->memory.activations, [MEMORY_WORKSPACE] = &to->memory.workspace};
    const struct plan *plan = &p->plan;
    put_bytes(row, &to->memory.planned, plan->arena);
    put_bytes(row, &to->memory.peak_live, plan->peak);
    put_bytes(row, &to->memory.average, plan->average);
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++)
        put_bytes(row, at_peak[c], plan->at_peak[c]);
    to->memory.peak_op = row_keep(row, p->peak_op);
}

/* What other ways of batching would compute. */
static void write_ways(struct row *row, struct row_program *to, const struct program_result *p)
{
    int64_t *const flops[BATCHINGS] = {[BATCHING_RAGGED] = &to->flops.ragged,
                                       [BATCHING_PADDED] = &to->flops.padded,
                                       [BATCHING_BUCKETED] = &to->flops.bucketed,
                                       [BATCHING_PACKED] = &to->flops.packed};
    for (enum batching way = 0; way < BATCHINGS; way++)
        put_count(row, flops[way], p->batched[way]);
}

/* The members of a phase after the forward pass. */
static struct row_phase *phase_in(struct row *row, enum phase phase)
{
    return phase == PHASE_BACKWARD    ? &row->step.backward
           : phase == PHASE_OPTIMIZER ? &row->step.optimizer
                                      : &row->step.recompute;
}

/* Without checkpoints nothing is recomputed. */
static bool ran(const struct program_result *p, enum phase phase)
{
    return phase != PHASE_RECOMPUTE || p->cost[phase].bytes > 0;
}

static void write_costs(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    struct cost total = result_cost(p);
    for (enum phase phase = PHASE_FORWARD + 1; phase < PHASES && kind == PROGRAM_STEP; phase++) {
        if (!ran(p, phase))
            continue;
        put_count(row, &phase_in(row, phase)->flops, p->cost[phase].flops);
        put_count(row, &phase_in(row, phase)->bytes, p->cost[phase].bytes);
    }
    put_count(row, &to->flops.analytic, total.flops);
    put_count(row, &to->flops.seed, p->convention[CONVENTION_SEED]);
    put_count(row, &to->flops.torch, p->convention[CONVENTION_TORCH]);
    put_count(row, &to->flops.fvcore, p->convention[CONVENTION_FVCORE]);
    put_count(row, &to->flops.deepspeed, p->convention[CONVENTION_DEEPSPEED]);
    put_count(row, &to->bytes, total.bytes);
    put_count(row, &to->bytes_no_reuse, total.no_reuse);
}

static bool all_known(const double *values, int n)
{
    int known = 0;
    while (known < n && !isnan(values[known]))
        known++;
    return known == n;
}

/* The statistics of a phase in some turns; r: which of them are reported. */
static void write_phase(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    struct reported part = reported_part(t, r);
    row_set_part_times(row, group, t, &part);
    reported_free(&part);
}

/* The same in runs launched beside replays of a graph, as one turn. */
static void write_eager_phase(struct row *row, const char *group, const double *seconds, int n)
{
    static const struct states none;
    struct turn turn = {(size_t)n, {{NAN, NAN}}, {{NAN, NAN}}};
    struct turns turns = {1, &turn, seconds};
    struct reported r = reported_choose(&turns, &none);
    write_phase(row, group, &turns, &r);
    reported_free(&r);
}

/* Of the samples, or if these are replays of a graph, of the runs launched beside them. */
static void write_phases(struct row *row, enum program_kind kind, const struct program_result *result,
                         const struct reported *r)
{
    static const char *const groups[PHASES] = {[PHASE_BACKWARD] = "step.backward.time",
                                               [PHASE_OPTIMIZER] = "step.optimizer.time",
                                               [PHASE_RECOMPUTE] = "step.recompute.time"};
    const struct samples *s = result->samples;
    const struct eager_runs *l = &result->eager;
    for (enum phase p = PHASE_FORWARD + 1; p < PHASES && kind == PROGRAM_STEP; p++) {
        struct turns turns = samples_turns(s);
        turns.samples = s->phase[p];
        if (!ran(result, p))
            continue;
        if (all_known(s->phase[p], s->n))
            write_phase(row, groups[p], &turns, r);
        else if (l->n > 0)
            write_eager_phase(row, groups[p], l->phase[p], l->n);
        else
            row_omit(row, groups[p], "replayed as one graph (--no-cuda-graph)");
    }
}

/* The median of all turns, as the time is one of turns. */
static void write_lost(struct row *row, struct row_times *time, const struct samples *s)
{
    bool known = all_known(s->lost, s->turns);
    time->lost = known ? summarize(s->lost, (size_t)s->turns).median : NAN;
    if (!known)
        put_reason(row, &time->lost, "the kernel does not say how long threads wait (/proc/self/schedstat)");
}

static void write_times(struct row *row, enum program_kind kind, const struct program_result *p,
                        const struct reported *r)
{
    static const char *const groups[PROGRAMS] = {"forward.time", "step.time", "kernel.time"};
    struct row_program *to = row_program(row, kind);
    const struct samples *s = p->samples;
    struct turns turns = samples_turns(s);
    row_set_times(row, groups[kind], &turns, r);
    write_lost(row, &to->time, s);
    put_count(row, &to->time.warmup, s->warmup);
    put_real(row, &to->time.cpu, s->used.cpu / (double)(s->n + s->seen.discarded));
    put_count(row, &to->noise.minor_faults, s->used.minor_faults);
    put_count(row, &to->noise.major_faults, s->used.major_faults);
    put_count(row, &to->noise.voluntary, s->used.voluntary);
    put_count(row, &to->noise.involuntary, s->used.involuntary);
    write_phases(row, kind, p, r);
}

/* The ceilings for the state in which a program is reported; null with the reason if there are none. */
static const struct calibration *ceilings_of(const struct result *r, const struct program_result *p,
                                             const struct reported *reported, const char **missing)
{
    struct turns turns = samples_turns(p->samples);
    struct cost cost = result_cost(p);
    const struct calibration *c = ceilings_in(r->job->ceilings, r->job->config->threads, turns.list,
                                              turns.count, &reported->state, missing);
    if (r->group.count > 0)
        *missing = "not with several ranks";
    else if (c && reported->unsettled)
        *missing = ROW_UNSETTLED;
    else if (c && (cost.flops < 0 || cost.bytes < 0 || p->plan.operands == BYTES_MOST))
        *missing = "the work exceeds 63 bits";
    else
        return c;
    return NULL;
}

static void write_roofline(struct row *row, struct row_program *to, const struct program_result *p,
                           double median, const struct calibration *c)
{
    struct cost cost = result_cost(p);
    struct roofline r = roofline_place(c, &cost, median, p->plan.operands);
    struct message fault;
    roofline_fault(&r, c, &fault);
    to->roofline.level = row_keep(row, memory_level_name(r.level));
    to->roofline.bound = row_keep(row, bound_name(r.bound));
    put_real(row, &to->roofline.attainable, r.attainable);
    put_real(row, &to->roofline.percent, r.percent);
    to->roofline.calibrated = row_keep(row, c->time);
    to->roofline.fault = row_keep(row, fault.text);
    /* With cold caches the working set is in the outermost level. */
    if (p->cold.n > 0)
        put_real(row, &to->cold.percent, roofline_place(c, &cost, p->cold.median, INT64_MAX).percent);
}

/* What good kernels take, in the same state. */
static void write_bound(struct row *row, struct row_program *to, const struct program_result *p,
                        const struct calibration *c)
{
    double bound = 0;
    for (int i = 0; i < p->entries; i++)
        bound += roofline_bound(c, &p->entry[i]);
    put_real(row, &to->bound.time, bound);
}

static void write_timed(struct row *row, const struct result *r, enum program_kind kind)
{
    const struct program_result *p = &r->program[kind];
    struct row_program *to = row_program(row, kind);
    struct turns turns = samples_turns(p->samples);
    struct reported reported = reported_choose(&turns, r->job->states);
    double median = reported_median(&reported);
    const char *missing;
    const struct calibration *c = ceilings_of(r, p, &reported, &missing);
    write_times(row, kind, p, &reported);
    passes_write(row, kind, p);
    if (c) {
        write_roofline(row, to, p, median, c);
        write_bound(row, to, p, c);
    } else {
        put_program_reason(row, kind, "roofline", missing);
        put_program_reason(row, kind, "bound", missing);
    }
    if (!c && p->cold.n > 0)
        put_reason(row, &to->cold.percent, missing);
    if (kind == PROGRAM_STEP)
        put_real(row, &row->loss, p->samples->first);
    reported_free(&reported);
}

static void write_program(struct row *row, const struct result *r, enum program_kind kind)
{
    const struct program_result *p = &r->program[kind];
    struct row_program *to = row_program(row, kind);
    if (p->unwanted && *p->unwanted)
        row_omit(row, program_name(kind), p->unwanted);
    if (!p->planned)
        return;
    write_memory(row, to, p);
    write_costs(row, kind, p);
    if (kind != PROGRAM_KERNEL && r->graph.graphs > 1)
        write_ways(row, to, p);
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
    row->checked = row_keep(row, *missing || c->check.tensors == 0 ? "none" : c->by_rows ? "rows" : "whole");
    if (*missing)
        row_explain(row, "checked", missing);
    if (c->check.tensors == 0)
        return;
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", c->how, *c->missing ? "; " : "", c->missing);
    put_real(row, &row->error.norm, c->check.norm);
    put_real(row, &row->error.worst_row, c->check.worst_row);
    row->error.checked = row_keep(row, text);
    row->error.tensor = row_keep(row, c->check.tensor);
    check_exceptions(&c->check, exceptions);
    row->error.exceptions = row_keep(row, exceptions);
}

static void write_encoding(struct row *row, const struct result *r)
{
    const struct config *c = r->job->config;
    if (c->parts.pe.kind != ENCODING_NONE)
        fields_encoding_bound(row, &r->graph.bound, r->graph.encoding_storage);
    if (!r->encoded)
        return;
    struct turns turns = samples_turns(&r->encoded->samples);
    struct reported reported = reported_choose(&turns, r->job->states);
    row_set_times(row, "encoding.time", &turns, &reported);
    write_lost(row, &row->encoding.time, &r->encoded->samples);
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
    row->status = row_keep(row, outcome->status);
    row->reason = row_keep(row, outcome->reason.text);
    row->started = row_keep(row, r->started);
    row->checked = row_keep(row, "none");
    fields_config(row, r->job->config, r->job->options);
    if (r->graph.known) {
        row->parameters = r->graph.parameters;
        row->graph.inputs = row_keep(row, r->graph.inputs);
        write_work(row, r);
    }
    return row;
}
