/* A recorded program in a row: its memory, and its work by formulas. */
#include "bench/row/fields.h"

#include <stdio.h>

#include "graphs/batching.h"
#include "models/tape/conventions.h"

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
