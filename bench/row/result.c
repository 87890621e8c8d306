#include "bench/row/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void result_graph(struct graph_result *g, const struct workload *w)
{
    const struct batch *b = &w->batch;
    bool numbered = workload_numbers_edges(w->options, &w->config);
    *g = (struct graph_result){.known = true,
                               .planned = w->options->device.meta,
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
