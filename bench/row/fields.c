#include "bench/row/fields.h"

#include <math.h>

#include "analysis/statistics/statistics.h"
#include "bench/base/memory.h"

enum { PATH_TEXT = 64 };

static const char *path(char text[PATH_TEXT], enum program_kind kind, const char *field)
{
    snprintf(text, PATH_TEXT, "%s.%s", program_name(kind), field);
    return text;
}

void facts_count(json_t *row, const char *field, int64_t value)
{
    if (value >= 0)
        row_set_count(row, field, value);
    else
        row_set_null(row, field, "exceeds 63 bits");
}

static void set_count(json_t *row, enum program_kind kind, const char *field, int64_t value)
{
    char p[PATH_TEXT];
    facts_count(row, path(p, kind, field), value);
}

static void set_real(json_t *row, enum program_kind kind, const char *field, double value)
{
    char p[PATH_TEXT];
    row_set_real(row, path(p, kind, field), value);
}

/* What is timed: a model's programs or a kernel. */
static void facts_kernel(json_t *row, const struct config *c)
{
    static const char *const of_models[] = {"model", "attention", "mpnn", "norm", "pool", "task"};
    if (c->kernel) {
        row_set_text(row, "op", op_info(c->kernel->op)->name);
        row_set_text(row, "variant", c->kernel->variant);
        for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++)
            row_set_null(row, of_models[i], "an op alone");
        return;
    }
    row_set_null(row, "op", "programs of a model");
    row_set_null(row, "variant", "programs of a model");
    row_set_text(row, "model", c->model->name);
    row_set_text(row, "attention", attention_name((int)c->parts.attention));
    row_set_text(row, "mpnn", mpnn_name((int)c->parts.mpnn));
    row_set_text(row, "norm", norm_name((int)c->parts.norm));
    row_set_text(row, "pool", pool_name((int)c->parts.pool));
    row_set_text(row, "task", task_name((int)c->parts.task));
}

static void facts_pe(json_t *row, const struct encoding_config *pe)
{
    char text[64];
    encoding_format(pe, text, sizeof text);
    row_set_text(row, "pe", text);
    if (pe->kind == ENCODING_LAP || pe->kind == ENCODING_LAP_PYG)
        row_set_text(row, "solver", eigensolver_name((int)pe->solver));
    else
        row_set_null(row, "solver", "nothing to solve");
    if (pe->kind == ENCODING_NONE)
        row_set_null(row, "encoding", "none asked for (--pe)");
}

void facts_config(json_t *row, const struct config *c, const struct options *o)
{
    char work[17];
    config_work(c, o->seed, work);
    row_set_text(row, "work", work);
    facts_kernel(row, c);
    row_set_text(row, "device", o->device.name);
    row_set_text(row, "dtype", dtype_name(F32));
    row_set_count(row, "nodes", c->graph.nodes);
    row_set_real(row, "degree", c->graph.degree);
    row_set_count(row, "batch", c->graph.graphs);
    row_set_count(row, "layers", c->parts.layers);
    row_set_count(row, "hidden", c->parts.hidden);
    row_set_count(row, "heads", c->parts.heads);
    row_set_count(row, "ffn", c->parts.ffn);
    row_set_text(row, "act", activation_name((int)c->parts.act));
    row_set_text(row, "graph.family", c->graph.family);
    row_set_count(row, "threads", c->threads);
    row_set_count(row, "seed", (int64_t)o->seed);
    row_set_count(row, "parameters", model_parameters(&c->parts));
    if (!c->kernel)
        return facts_pe(row, &c->parts.pe);
    row_set_null(row, "pe", "an op alone");
    row_set_null(row, "solver", "an op alone");
    row_set_null(row, "encoding", "an op alone");
}

/* What a framework works on that pads every graph to the largest; -1 beyond 63 bits. */
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

static void facts_degrees(json_t *row, struct degrees d)
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

void facts_batch(json_t *row, const struct batch *b, bool shape_only)
{
    row_set_count(row, "nodes", b->adj.nodes / b->graphs); /* a file says how many, */
    row_set_count(row, "batch", b->graphs);                /* and of how many graphs */
    row_set_count(row, "graph.edges", b->adj.edges);
    row_set_real(row, "graph.degree_mean", (double)b->adj.edges / (double)b->adj.nodes);
    row_set_count(row, "graph.pairs", b->pairs);
    int64_t padded = padded_pairs(b);
    facts_count(row, "graph.padded_pairs", padded);
    if (padded >= 0)
        row_set_real(row, "graph.padding_waste", 1 - (double)b->pairs / (double)padded);
    else
        row_set_null(row, "graph.padding_waste", "the padded pairs exceed 63 bits");
    row_set_count(row, "graph.bytes",
                  csr_bytes(&b->adj) + (b->symmetric ? 0 : csr_bytes(&b->out)) +
                      (b->graphs + 1) * (int64_t)sizeof *b->offset);
    if (!shape_only)
        facts_degrees(row, csr_degrees(&b->adj));
}

static void set_bytes(json_t *row, enum program_kind kind, const char *field, int64_t bytes)
{
    set_count(row, kind, field, bytes < BYTES_MOST ? bytes : -1);
}

static void facts_memory(json_t *row, enum program_kind kind, const struct tape *t, const struct plan *plan)
{
    set_bytes(row, kind, "memory.planned", plan->arena);
    set_bytes(row, kind, "memory.peak_live", plan->peak);
    char text[128], p[PATH_TEXT];
    if (plan->arena < BYTES_MOST)
        set_real(row, kind, "memory.efficiency", (double)plan->peak / (double)plan->arena);
    else
        row_set_null(row, path(p, kind, "memory.efficiency"), "the plan exceeds 63 bits");
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++) {
        char field[40];
        snprintf(field, sizeof field, "memory.%s", category_name(c));
        set_bytes(row, kind, field, plan->at_peak[c]);
    }
    const struct entry *e = tape_entry(t, plan->peak_entry);
    snprintf(text, sizeof text, "%s %s", e->span, op_info(e->op)->name);
    row_set_text(row, path(p, kind, "memory.peak_op"), text);
}

void facts_plan(json_t *row, enum program_kind kind, const struct tape *t)
{
    facts_memory(row, kind, t, tape_planned(t));
    struct cost total = {0};
    for (enum phase p = 0; p < PHASES; p++) {
        struct cost cost = tape_cost(t, p);
        total = cost_add(total, cost);
        if (kind != PROGRAM_STEP || p == PHASE_FORWARD)
            continue;
        char field[40];
        snprintf(field, sizeof field, "%s.flops", phase_name(p));
        set_count(row, kind, field, cost.flops);
        snprintf(field, sizeof field, "%s.bytes", phase_name(p));
        set_count(row, kind, field, cost.bytes);
    }
    set_count(row, kind, "flops.analytic", total.flops);
    set_count(row, kind, "bytes", total.bytes);
    set_count(row, kind, "bytes_no_reuse", total.no_reuse);
    set_real(row, kind, "intensity",
             total.flops < 0 || total.bytes < 0 ? NAN : (double)total.flops / (double)total.bytes);
}

void facts_noise(json_t *row, const struct noise *n)
{
    row_set_real(row, "noise.load", n->load);
    row_set_real(row, "noise.lost", n->lost);
    row_set_real(row, "noise.largest_gap", n->largest_gap);
    if (n->frequency > 0)
        row_set_real(row, "noise.frequency", n->frequency);
    else
        row_set_null(row, "noise.frequency", "the system does not tell");
    if (*n->governor)
        row_set_text(row, "noise.governor", n->governor);
    else
        row_set_null(row, "noise.governor", "the system does not tell");
}

void facts_roofline(json_t *row, enum program_kind kind, const struct calibration *c, const char *missing)
{
    char p[PATH_TEXT];
    int64_t flops, bytes, live;
    double median;
    bool known = row_get_count(row, path(p, kind, "flops.analytic"), &flops) &&
                 row_get_count(row, path(p, kind, "bytes"), &bytes) &&
                 row_get_count(row, path(p, kind, "memory.peak_live"), &live) &&
                 row_get_real(row, path(p, kind, "time.median"), &median);
    if (!c || !known) {
        row_set_null(row, path(p, kind, "roofline"), c ? "the work exceeds 63 bits" : missing);
        return;
    }
    struct roofline r = roofline_place(c, flops, bytes, median, live);
    struct message fault;
    roofline_fault(&r, c, &fault);
    row_set_text(row, path(p, kind, "roofline.level"), memory_level_name(r.level));
    row_set_text(row, path(p, kind, "roofline.bound"), bound_name(r.bound));
    set_real(row, kind, "roofline.attainable", r.attainable);
    set_real(row, kind, "roofline.percent", r.percent);
    row_set_text(row, path(p, kind, "roofline.fault"), fault.text);
}

bool facts_resident(json_t *row, enum program_kind kind, struct tape *t)
{
    struct resident r;
    const char *reason;
    char p[PATH_TEXT];
    if (!memory_measure(t, &r, &reason)) {
        row_set_null(row, path(p, kind, "memory.resident"), reason);
        row_set_null(row, path(p, kind, "memory.libraries"), reason);
        return true;
    }
    set_count(row, kind, "memory.libraries", r.libraries);
    if (r.program < 0) {
        row_set_null(row, path(p, kind, "memory.resident"), reason);
        return true;
    }
    set_count(row, kind, "memory.resident", r.program);
    double planned = (double)tape_planned(t)->arena;
    return (double)r.program <= 1.05 * planned + 4 * 0x1p20;
}

void facts_samples(json_t *row, enum program_kind kind, const struct samples *s, const struct batch *b)
{
    char p[PATH_TEXT];
    row_set_samples(row, path(p, kind, "time"), s->seconds, (size_t)s->n);
    set_count(row, kind, "time.warmup", s->warmup);
    set_real(row, kind, "time.cpu", s->used.cpu / (double)(s->n + s->seen.discarded));
    set_count(row, kind, "noise.minor_faults", s->used.minor_faults);
    set_count(row, kind, "noise.major_faults", s->used.major_faults);
    set_count(row, kind, "noise.voluntary", s->used.voluntary);
    set_count(row, kind, "noise.involuntary", s->used.involuntary);
    double median = summarize(s->seconds, (size_t)s->n).median;
    int64_t flops;
    if (row_get_count(row, path(p, kind, "flops.analytic"), &flops))
        set_real(row, kind, "gflops", 1e-9 * (double)flops / median);
    int64_t bytes;
    if (row_get_count(row, path(p, kind, "bytes"), &bytes))
        set_real(row, kind, "bandwidth", 1e-9 * (double)bytes / median);
    set_real(row, kind, "throughput", (double)b->graphs / median);
    set_real(row, kind, "nodes_per_second", (double)b->adj.nodes / median);
    set_real(row, kind, "edges_per_second", (double)b->adj.edges / median);
    if (kind != PROGRAM_STEP)
        return;
    if (isnan(s->phase[PHASE_FORWARD][0])) {
        row_set_null(row, path(p, kind, "backward.time"), "one graph (--cuda-graph)");
        row_set_null(row, path(p, kind, "optimizer.time"), "one graph (--cuda-graph)");
        return;
    }
    set_real(row, kind, "backward.time", summarize(s->phase[PHASE_BACKWARD], (size_t)s->n).median);
    set_real(row, kind, "optimizer.time", summarize(s->phase[PHASE_OPTIMIZER], (size_t)s->n).median);
}

void facts_cold(json_t *row, enum program_kind kind, const struct cold *c, const char *missing)
{
    char p[PATH_TEXT];
    if (!c) {
        row_set_null(row, path(p, kind, "cold"), missing);
        return;
    }
    set_count(row, kind, "cold.n", c->n);
    set_real(row, kind, "cold.median", c->median);
    set_real(row, kind, "cold.min", c->min);
    set_count(row, kind, "cold.flushed", c->flushed);
}

void facts_cold_roofline(json_t *row, enum program_kind kind, const struct calibration *c,
                         const char *missing)
{
    char p[PATH_TEXT];
    int64_t flops, bytes;
    double median;
    if (!row_get_real(row, path(p, kind, "cold.median"), &median))
        return;
    if (c && row_get_count(row, path(p, kind, "flops.analytic"), &flops) &&
        row_get_count(row, path(p, kind, "bytes"), &bytes))
        set_real(row, kind, "cold.percent", roofline_place(c, flops, bytes, median, INT64_MAX).percent);
    else
        row_set_null(row, path(p, kind, "cold.percent"), c ? "the work exceeds 63 bits" : missing);
}

void facts_launching(json_t *row, enum program_kind kind, const struct launching *l)
{
    char p[PATH_TEXT];
    if (l->n == 0) {
        row_set_null(row, path(p, kind, "launch"), "nothing is launched: the host computes");
        return;
    }
    set_count(row, kind, "launch.n", l->n);
    set_count(row, kind, "launch.entries", l->entries);
    set_real(row, kind, "launch.median", l->median);
    set_real(row, kind, "launch.per_entry", l->median / l->entries);
}

bool facts_counted(json_t *row, enum program_kind kind, int64_t counted)
{
    char p[PATH_TEXT];
    int64_t analytic;
    if (counted < 0) {
        row_set_null(row, path(p, kind, "flops.counted"), "the loops of an op exceed 1e9 FLOPs");
        return true;
    }
    set_count(row, kind, "flops.counted", counted);
    return !row_get_count(row, path(p, kind, "flops.analytic"), &analytic) || analytic == counted;
}

void facts_executed(json_t *row, enum program_kind kind, const struct executed *e)
{
    char p[PATH_TEXT];
    set_count(row, kind, "flops.executed", e->flops);
    row_set_text(row, path(p, kind, "flops.source"), e->source);
}

void facts_not_executed(json_t *row, enum program_kind kind, const char *reason)
{
    char p[PATH_TEXT];
    row_set_null(row, path(p, kind, "flops.executed"), reason);
    row_set_null(row, path(p, kind, "flops.source"), reason);
}

void facts_check(json_t *row, const struct verdict *v)
{
    if (v->check.tensors == 0) {
        if (*v->missing)
            row_set_null(row, "error", v->missing);
        return;
    }
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", v->how, *v->missing ? "; " : "", v->missing);
    row_set_real(row, "error.norm", v->check.norm);
    row_set_real(row, "error.worst_row", v->check.worst_row);
    row_set_text(row, "error.checked", text);
    row_set_text(row, "error.tensor", v->check.tensor);
}

void facts_unmeasured(json_t *row, bool meta)
{
    const char *reason = NULL;
    if (row_is_ok(row))
        reason = meta ? "planned only (--device meta)" : "not measured";
    else
        row_get_text(row, "reason", &reason);
    row_set_rest_null(row, reason);
}
