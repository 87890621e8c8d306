#include "bench/row/fields.h"

#include <stdio.h>

#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "bench/cli/command_line.h"
#include "bench/cli/plan.h"
#include "bench/cli/presets.h"
#include "graphs/batching.h"
#include "models/tape/conventions.h"

static void field_axis(struct row *row, const struct config *c, enum axis a)
{
    const char *field = axis_info(a)->field;
    struct axis_value v;
    config_axis(c, a, &v);
    if (v.is_absent)
        return;
    if (v.text)
        row_set_text(row, field, v.text);
    else if (v.kind == AXIS_WHOLE)
        row_set_count(row, field, v.count);
    else
        row_set_real(row, field, v.real);
}

/* What the preset says of itself, and what the command line changes. */
static void fields_preset(struct row *row, const struct config *c)
{
    const struct preset *p = preset_at(c->preset);
    char changes[256], left_out[256];
    if (!p)
        return;
    config_changes(c, changes, sizeof changes);
    row->published.parameters = p->parameters;
    row->published.batch = p->batch;
    row->published.changed = row_keep(row, changes);
    if (c->graph.graphs < p->batch)
        snprintf(left_out, sizeof left_out, "%lld of %lld graphs, %s",
                 (long long)(p->batch - c->graph.graphs), (long long)p->batch, p->left_out);
    else
        snprintf(left_out, sizeof left_out, "%s", p->left_out);
    row->published.left_out = row_keep(row, left_out);
}

void fields_config(struct row *row, const struct config *c, const struct options *o)
{
    row->work = row_keep(row, c->work);
    if (c->timed.kernel) {
        row->op = row_keep(row, form_name(c->timed.form));
        row->variant = row_keep(row, c->timed.kernel->variant);
    }
    for (enum axis a = 0; a < AXES; a++)
        field_axis(row, c, a);
    fields_preset(row, c);
    char plugin[PLUGIN_TEXT];
    plugin_describe(o, c, plugin);
    row->plugin = *plugin ? row_keep(row, plugin) : NULL;
    row->position = c->position;
    row->device = row_keep(row, o->device.name);
    row->seed = (int64_t)o->seed;
    row->parameters = program_parameters(&c->parts);
}

void fields_varying(const struct options *o, const struct config *c, bool backwards, char text[AXES_TEXT])
{
    const struct field *axes[AXES_MAX];
    enum axis order[AXES];
    size_t n = 0;
    struct row *row = row_new();
    axes_swept(order);
    for (int i = 0; i < AXES; i++) {
        enum axis a = order[backwards ? AXES - 1 - i : i];
        if (o->axes[a].count > 1 || (backwards && a == AXIS_NODES))
            axes[n++] = schema_find(axis_info(a)->field);
    }
    for (int i = 0; i < 2 && o->kernels; i++)
        axes[n++] = schema_find(i ? "variant" : "op");
    fields_config(row, c, o);
    axes_describe_all(row, axes, n, text);
    row_free(row);
}

void fields_describe(const struct options *o, const struct config *c, char text[AXES_TEXT])
{
    fields_varying(o, c, true, text);
}

void fields_title(const struct options *o, const struct config *c, enum program_kind kind,
                  char text[TITLE_TEXT])
{
    char row[AXES_TEXT];
    fields_describe(o, c, row);
    snprintf(text, TITLE_TEXT, "%s at %s", program_name(kind), row);
}

static void put_bytes(struct row *row, int64_t *member, int64_t bytes)
{
    row_put_count(row, member, bytes < BYTES_MOST ? bytes : -1);
}

static void set_memory(struct row *row, struct row_program *to, const struct tape *t)
{
    int64_t *const at_peak[MEMORY_CATEGORIES] = {
        [MEMORY_PARAMETERS] = &to->memory.parameters,   [MEMORY_GRADIENTS] = &to->memory.gradients,
        [MEMORY_OPTIMIZER] = &to->memory.optimizer,     [MEMORY_GRAPH] = &to->memory.graph,
        [MEMORY_ENCODINGS] = &to->memory.encodings,     [MEMORY_STATE] = &to->memory.state,
        [MEMORY_ACTIVATIONS] = &to->memory.activations, [MEMORY_WORKSPACE] = &to->memory.workspace};
    const struct plan *plan = tape_planned(t);
    const struct tape_config *c = tape_config(t);
    const struct entry *e = tape_entry(t, plan->peak_entry);
    char peak_op[128];
    put_bytes(row, &to->memory.planned, plan->arena);
    put_bytes(row, &to->memory.peak_live, plan->peak);
    put_bytes(row, &to->memory.average, plan->average);
    for (enum category i = 0; i < MEMORY_CATEGORIES; i++)
        put_bytes(row, at_peak[i], plan->at_peak[i]);
    snprintf(peak_op, sizeof peak_op, "%s %s", e->span, e->form);
    to->memory.peak_op = row_keep(row, peak_op);
    if (c->backend == &backend_cuda_plan)
        row_put_reason(row, &to->memory.workspace, "the scratch of a GPU's kernels needs their library");
    if (c->backend->device && !c->context)
        to->memory.libraries = c->backend->device->beside;
}

/* A phase of a training step after the forward pass. */
static struct row_phase *phase_in(struct row *row, enum phase phase)
{
    return phase == PHASE_BACKWARD    ? &row->step.backward
           : phase == PHASE_OPTIMIZER ? &row->step.optimizer
                                      : &row->step.recompute;
}

struct cost fields_total(const struct cost cost[PHASES])
{
    struct cost total = {0};
    for (enum phase p = 0; p < PHASES; p++)
        total = cost_add(total, cost[p]);
    return total;
}

/* Without checkpoints nothing is recomputed. */
static void set_work(struct row *row, enum program_kind kind, const struct cost cost[PHASES],
                     const int64_t convention[CONVENTIONS])
{
    struct row_program *to = row_program(row, kind);
    struct cost total = fields_total(cost);
    for (enum phase p = PHASE_FORWARD + 1; p < PHASES && kind == PROGRAM_STEP; p++) {
        if (p == PHASE_RECOMPUTE && cost[p].bytes <= 0)
            continue;
        row_put_count(row, &phase_in(row, p)->flops, cost[p].flops);
        row_put_count(row, &phase_in(row, p)->bytes, cost[p].bytes);
    }
    row_put_count(row, &to->flops.analytic, total.flops);
    row_put_count(row, &to->flops.convention.simple, convention[CONVENTION_SIMPLE]);
    row_put_count(row, &to->flops.convention.torch, convention[CONVENTION_TORCH]);
    row_put_count(row, &to->flops.convention.fvcore, convention[CONVENTION_FVCORE]);
    row_put_count(row, &to->flops.convention.deepspeed, convention[CONVENTION_DEEPSPEED]);
    row_put_count(row, &to->bytes, total.bytes);
    row_put_count(row, &to->bytes_no_reuse, total.no_reuse);
}

struct cost fields_plan(struct row *row, enum program_kind kind, const struct tape *t)
{
    struct cost cost[PHASES];
    int64_t convention[CONVENTIONS];
    for (enum phase p = 0; p < PHASES; p++)
        cost[p] = tape_cost(t, p);
    for (enum convention c = 0; c < CONVENTIONS; c++)
        convention[c] = convention_total(c, t, OPS);
    set_memory(row, row_program(row, kind), t);
    set_work(row, kind, cost, convention);
    return fields_total(cost);
}

struct cost fields_plan_ranks(struct row *row, enum program_kind kind, const struct workload *w)
{
    struct cost cost[PHASES] = {0};
    int64_t convention[CONVENTIONS] = {0};
    for (int r = 0; r < w->group.ranks->count; r++) {
        for (enum phase p = 0; p < PHASES; p++)
            cost[p] = cost_add(cost[p], w->group.facts[r].cost[p]);
        for (enum convention c = 0; c < CONVENTIONS; c++)
            convention[c] += w->group.facts[r].convention[c];
    }
    set_work(row, kind, cost, convention);
    return fields_total(cost);
}

void fields_ways(struct row *row, enum program_kind kind, const struct workload *w)
{
    struct row_program *to = row_program(row, kind);
    const struct {
        int64_t *flops, rows, pairs;
    } ways[] = {{&to->flops.ragged, row->graph.nodes, row->graph.pairs},
                {&to->flops.padded, row->graph.padded_rows, row->graph.padded_pairs},
                {&to->flops.bucketed, row->graph.bucketed_rows, row->graph.bucketed_pairs},
                {&to->flops.packed, row->graph.packed_rows, row->graph.packed_pairs}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        row_put_count(row, ways[i].flops,
                      workload_flops(w, kind, (struct batching_work){ways[i].rows, ways[i].pairs}));
}
