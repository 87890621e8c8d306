#include "bench/row/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "kernels/ranks.h"
#include "models/layers/features.h"

void result_plan(struct program_result *p, struct tape *t)
{
    p->planned = true;
    p->plan = *tape_plan(t);
    const struct entry *e = tape_entry(t, p->plan.peak_entry);
    snprintf(p->peak_op, sizeof p->peak_op, "%s %s", e->span, op_info(e->op)->name);
    for (enum phase phase = 0; phase < PHASES; phase++)
        p->cost[phase] = tape_cost(t, phase);
    for (enum convention c = 0; c < CONVENTIONS; c++)
        p->convention[c] = convention_total(c, t, OPS);
}

void result_entries(struct program_result *p, const struct tape *t)
{
    p->entries = tape_entry_count(t);
    p->entry = realloc(p->entry, (size_t)p->entries * sizeof *p->entry);
    if (!p->entry)
        abort();
    for (int i = 0; i < p->entries; i++)
        p->entry[i] = entry_cost(tape_entry(t, i));
}

/* Which inputs of the model the files of the graph have. */
static void name_inputs(char text[64], const struct workload *w)
{
    const struct model_config *c = &w->config.parts;
    const struct batch_inputs *in = &w->batch.inputs;
    snprintf(text, 64, "%s%s%s%s", takes_table(&c->features, &in->features) ? "features " : "",
             takes_edge_table(c, in) ? "edge_features " : "", takes_labels(c, in) ? "labels " : "",
             takes_targets(c, in) ? "targets " : "");
    text[strlen(text) - (*text != '\0')] = '\0';
}

static int64_t flops_of(const struct cost cost[PHASES])
{
    int64_t sum = 0;
    for (enum phase p = 0; p < PHASES; p++)
        sum += cost[p].flops;
    return sum;
}

void result_group(struct group_result *g, struct program_result *p, const struct workload *w)
{
    int64_t largest = 0, sum = 0;
    *g = (struct group_result){.count = w->ranks->count,
                               .divided = w->batch.halo.ranks,
                               .partition_seconds = w->partition ? w->partition_seconds : NAN,
                               .nodes_min = INT64_MAX,
                               .edges_min = INT64_MAX};
    memset(p->cost, 0, sizeof p->cost);
    memset(p->convention, 0, sizeof p->convention);
    for (int r = 0; r < g->count; r++) {
        const struct rank_facts *f = &w->facts[r];
        int64_t flops = flops_of(f->cost);
        for (enum phase phase = 0; phase < PHASES; phase++)
            p->cost[phase] = cost_add(p->cost[phase], f->cost[phase]);
        for (enum convention c = 0; c < CONVENTIONS; c++)
            p->convention[c] += f->convention[c];
        g->nodes_max = max_of(g->nodes_max, f->nodes);
        g->nodes_min = min_of(g->nodes_min, f->nodes);
        g->edges_max = max_of(g->edges_max, f->edges);
        g->edges_min = min_of(g->edges_min, f->edges);
        g->memory = max_of(g->memory, f->arena);
        g->ghosts_max = max_of(g->ghosts_max, f->ghosts);
        g->cut += f->cut;
        largest = max_of(largest, flops);
        sum += flops;
    }
    g->imbalance = (double)largest * g->count / (double)sum;
}

void result_graph(struct graph_result *g, const struct workload *w)
{
    const struct batch *b = workload_whole(w);
    bool numbered = workload_numbers_edges(w->options, &w->config);
    *g = (struct graph_result){.known = true,
                               .planned = w->options->device.meta || w->ranks,
                               .graphs = b->graphs,
                               .edges = b->adj.edges,
                               .bytes = csr_bytes(&b->adj) + (b->symmetric ? 0 : csr_bytes(&b->out)) +
                                        (numbered ? b->adj.edges * (int64_t)sizeof *b->out_edge : 0) +
                                        (b->graphs + 1) * (int64_t)sizeof *b->offset};
    for (enum batching way = 0; way < BATCHINGS; way++)
        g->work[way] = batching_work(b, way);
    g->nodes = g->work[BATCHING_RAGGED].rows;
    g->pairs = g->work[BATCHING_RAGGED].pairs;
    if (w->config.parts.pe.kind != ENCODING_NONE) {
        g->encoding_storage = encoding_storage(&w->config.parts.pe, b);
        g->bound = encoding_bound(&w->config.parts.pe, b, w->config.threads);
    }
    if (!g->planned) {
        g->degrees = csr_degrees(&b->adj);
        g->bandwidth = csr_bandwidth(&b->adj);
        g->order_seconds = w->config.order != ORDER_NONE ? w->order_seconds : 0;
    }
    g->parameters = model_parameters(&w->config.parts);
    name_inputs(g->inputs, w);
}

struct cost result_cost(const struct program_result *p)
{
    struct cost total = {0};
    for (enum phase phase = 0; phase < PHASES; phase++)
        total = cost_add(total, p->cost[phase]);
    return total;
}
