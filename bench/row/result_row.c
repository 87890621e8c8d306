/* Converts typed results to the fields of a row, and derives rates and roofline percentages. */
#include "bench/row/result_row.h"

#include <math.h>

#include "analysis/statistics/statistics.h"
#include "bench/machine/roofline.h"
#include "bench/row/fields.h"
#include "bench/row/passes.h"
#include "bench/row/program_fields.h"

/* --- the graphs and the machine */

/* Pairs with every graph padded to the largest; -1 beyond 63 bits. */
static int64_t padded_pairs(const struct batch *b)
{
    int64_t largest = 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t size = b->offset[g + 1] - b->offset[g];
        largest = size > largest ? size : largest;
    }
    int64_t pairs;
    return __builtin_mul_overflow(largest * largest, b->graphs, &pairs) ? -1 : pairs;
}

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

/* planned: the batch has no edges, so degrees are unknown. */
static void write_batch(struct row *row, const struct batch *b, bool planned)
{
    row_set_count(row, "nodes", b->adj.nodes / b->graphs); /* known only after a */
    row_set_count(row, "batch", b->graphs);                /* file has been read */
    row_set_count(row, "graph.edges", b->adj.edges);
    row_set_real(row, "graph.degree_mean", (double)b->adj.edges / (double)b->adj.nodes);
    row_set_count(row, "graph.pairs", b->pairs);
    int64_t padded = padded_pairs(b);
    row_set_count_or_null(row, "graph.padded_pairs", padded);
    if (padded >= 0)
        row_set_real(row, "graph.padding_waste", 1 - (double)b->pairs / (double)padded);
    else
        row_set_null(row, "graph.padding_waste", "the padded pairs exceed 63 bits");
    row_set_count(row, "graph.bytes",
                  csr_bytes(&b->adj) + (b->symmetric ? 0 : csr_bytes(&b->out)) +
                      (b->graphs + 1) * (int64_t)sizeof *b->offset);
    if (!planned)
        write_degrees(row, csr_degrees(&b->adj));
}

static void write_noise(struct row *row, const struct noise *n)
{
    row_set_real(row, "noise.load", n->load);
    row_set_real(row, "noise.lost", n->lost);
    row_set_real(row, "noise.largest_gap", n->largest_gap);
    if (n->frequency > 0)
        row_set_real(row, "noise.frequency", n->frequency);
    else
        row_set_null(row, "noise.frequency", "not reported by the system");
    if (*n->governor)
        row_set_text(row, "noise.governor", n->governor);
    else
        row_set_null(row, "noise.governor", "not reported by the system");
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
    if (plan->arena < BYTES_MOST)
        program_set_real(row, kind, "memory.efficiency", (double)plan->peak / (double)plan->arena);
    else
        program_set_null(row, kind, "memory.efficiency", "the plan exceeds 63 bits");
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++) {
        char field[40];
        snprintf(field, sizeof field, "memory.%s", category_name(c));
        set_bytes(row, kind, field, plan->at_peak[c]);
    }
    program_set_text(row, kind, "memory.peak_op", p->peak_op);
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
    program_set_count(row, kind, "bytes", total.bytes);
    program_set_count(row, kind, "bytes_no_reuse", total.no_reuse);
    program_set_real(row, kind, "intensity",
                     total.flops < 0 || total.bytes < 0 ? NAN : (double)total.flops / (double)total.bytes);
}

static void write_phases(struct row *row, enum program_kind kind, const struct samples *s)
{
    static const char *const fields[PHASES] = {
        [PHASE_BACKWARD] = "backward.time", [PHASE_OPTIMIZER] = "optimizer.time"};
    for (enum phase p = PHASE_FORWARD + 1; p < PHASES && kind == PROGRAM_STEP; p++)
        if (isnan(s->phase[PHASE_FORWARD][0]))
            program_set_null(row, kind, fields[p], "replayed as one graph (--cuda-graph)");
        else
            program_set_real(row, kind, fields[p], summarize(s->phase[p], (size_t)s->n).median);
}

static void write_times(struct row *row, enum program_kind kind, const struct samples *s)
{
    char path[SCHEMA_PATH];
    row_set_samples(row, program_path(path, kind, "time"), s->seconds, (size_t)s->n);
    program_set_count(row, kind, "time.warmup", s->warmup);
    program_set_real(row, kind, "time.cpu", s->used.cpu / (double)(s->n + s->seen.discarded));
    program_set_count(row, kind, "noise.minor_faults", s->used.minor_faults);
    program_set_count(row, kind, "noise.major_faults", s->used.major_faults);
    program_set_count(row, kind, "noise.voluntary", s->used.voluntary);
    program_set_count(row, kind, "noise.involuntary", s->used.involuntary);
    write_phases(row, kind, s);
}

static void write_rates(struct row *row, enum program_kind kind, struct cost cost, double median,
                        const struct batch *b)
{
    if (cost.flops >= 0)
        program_set_real(row, kind, "gflops", 1e-9 * (double)cost.flops / median);
    if (cost.bytes >= 0)
        program_set_real(row, kind, "bandwidth", 1e-9 * (double)cost.bytes / median);
    program_set_real(row, kind, "throughput", (double)b->graphs / median);
    program_set_real(row, kind, "nodes_per_second", (double)b->adj.nodes / median);
    program_set_real(row, kind, "edges_per_second", (double)b->adj.edges / median);
}

static void write_roofline(struct row *row, enum program_kind kind, const struct program_result *p,
                           double median, const struct calibration *c, const char *missing)
{
    struct cost cost = result_cost(p);
    bool known = cost.flops >= 0 && cost.bytes >= 0 && p->plan.peak < BYTES_MOST;
    if (!c || !known) {
        program_set_null(row, kind, "roofline", c ? "the work exceeds 63 bits" : missing);
        return;
    }
    struct roofline r = roofline_place(c, cost.flops, cost.bytes, median, p->plan.peak);
    struct message fault;
    roofline_fault(&r, c, &fault);
    program_set_text(row, kind, "roofline.level", memory_level_name(r.level));
    program_set_text(row, kind, "roofline.bound", bound_name(r.bound));
    program_set_real(row, kind, "roofline.attainable", r.attainable);
    program_set_real(row, kind, "roofline.percent", r.percent);
    program_set_text(row, kind, "roofline.fault", fault.text);
}

/* With cold caches the working set is in the outermost level. */
static void write_cold_roofline(struct row *row, enum program_kind kind, const struct program_result *p,
                                const struct calibration *c, const char *missing)
{
    struct cost cost = result_cost(p);
    if (p->cold.n == 0)
        return;
    if (c && cost.flops >= 0 && cost.bytes >= 0)
        program_set_real(row, kind, "cold.percent",
                         roofline_place(c, cost.flops, cost.bytes, p->cold.median, INT64_MAX).percent);
    else
        program_set_null(row, kind, "cold.percent", c ? "the work exceeds 63 bits" : missing);
}

static void write_program(struct row *row, const struct result *r, enum program_kind kind)
{
    const struct program_result *p = &r->program[kind];
    const struct ceilings *ceilings = r->job->ceilings;
    const struct calibration *c = ceilings_for(ceilings, r->job->config.threads);
    if (p->unwanted)
        row_set_null(row, program_name(kind), p->unwanted);
    if (!p->planned)
        return;
    write_memory(row, kind, p);
    write_costs(row, kind, p);
    if (!p->samples)
        return;
    double median = summarize(p->samples->seconds, (size_t)p->samples->n).median;
    write_times(row, kind, p->samples);
    write_rates(row, kind, result_cost(p), median, &r->work->batch);
    write_roofline(row, kind, p, median, c, ceilings->missing);
    passes_write(row, kind, p);
    write_cold_roofline(row, kind, p, c, ceilings->missing);
    if (kind == PROGRAM_STEP)
        row_set_real(row, "loss", p->samples->first);
}

/* --- the row */

static void write_checked(struct row *row, const struct checked *c)
{
    char exceptions[CHECK_EXCEPTIONS_TEXT];
    if (*c->missing)
        row_set_null(row, "checked", c->missing);
    else if (c->check.tensors > 0)
        row_set_text(row, "checked", c->by_rows ? "rows" : "whole");
    if (c->check.tensors == 0) {
        if (*c->missing)
            row_set_null(row, "error", c->missing);
        return;
    }
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", c->how, *c->missing ? "; " : "", c->missing);
    row_set_real(row, "error.norm", c->check.norm);
    row_set_real(row, "error.worst_row", c->check.worst_row);
    row_set_text(row, "error.checked", text);
    row_set_text(row, "error.tensor", c->check.tensor);
    check_exceptions(&c->check, exceptions);
    row_set_text(row, "error.exceptions", exceptions);
}

static void write_work(struct row *row, const struct result *r)
{
    const struct options *o = r->job->options;
    write_batch(row, &r->work->batch, o->device.meta);
    if (r->probed)
        write_noise(row, &r->noise);
    fields_encoding(row, r->encoded, &r->job->config, &r->work->batch, o->device.backend->device);
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        write_program(row, r, p);
    fields_break_even(row);
    cold_start_write(row, &r->cold_start);
    write_checked(row, &r->checked);
}

struct row *result_row(const struct result *r)
{
    struct row *row = row_new();
    bool meta = r->job->options->device.meta, ok = outcome_is_ok(&r->outcome);
    row_set_text(row, "status", r->outcome.status);
    row_set_text(row, "reason", r->outcome.reason.text);
    fields_config(row, &r->job->config, r->job->options);
    if (r->work)
        write_work(row, r);
    row_set_rest_null(row, !ok    ? r->outcome.reason.text
                           : meta ? "planned only (--device meta)"
                                  : "not measured");
    return row;
}
