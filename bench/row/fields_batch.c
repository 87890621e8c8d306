#include "bench/row/fields.h"

#include <stdio.h>
#include <string.h>

#include "graphs/batching.h"
#include "graphs/csr.h"
#include "kernels/arithmetic.h"
#include "models/encodings/bound.h"
#include "models/layers/features.h"

/* Which inputs of the model the files of the graph have. */
static void set_inputs(struct row *row, const struct workload *w)
{
    const struct model_config *c = &w->config.parts;
    const struct batch_inputs *in = &w->batch.inputs;
    char text[64];
    snprintf(text, sizeof text, "%s%s%s%s", takes_table(&c->features, &in->features) ? "features " : "",
             takes_edge_table(c, in) ? "edge_features " : "", takes_labels(c, in) ? "labels " : "",
             takes_targets(c, in) ? "targets " : "");
    text[strlen(text) - (*text != '\0')] = '\0';
    row->graph.inputs = row_keep(row, text);
}

static void set_degrees(struct row *row, const struct csr *graph)
{
    struct degrees d = csr_degrees(graph);
    row->graph.degree_min = d.min;
    row->graph.degree_median = d.median;
    row->graph.degree_p99 = d.p99;
    row->graph.degree_max = d.max;
    row->graph.degree_std = d.std;
    row->graph.isolated = d.isolated;
    row->graph.self_loops = d.self_loops;
    row->graph.duplicates = d.duplicates;
    row->graph.bandwidth = csr_bandwidth(graph);
}

static void set_batching(struct row *row, const struct batch *b)
{
    struct batching_work padded = batching_work(b, BATCHING_PADDED),
                         bucketed = batching_work(b, BATCHING_BUCKETED),
                         packed = batching_work(b, BATCHING_PACKED);
    row_put_count(row, &row->graph.padded_pairs, padded.pairs);
    row_put_count(row, &row->graph.bucketed_pairs, bucketed.pairs);
    row_put_count(row, &row->graph.packed_pairs, packed.pairs);
    row->graph.padded_rows = padded.rows;
    row->graph.bucketed_rows = bucketed.rows;
    row->graph.packed_rows = packed.rows;
}

static int64_t structure_bytes(const struct workload *w, const struct batch *b)
{
    bool numbered = workload_numbers_edges(w->options, &w->config);
    return csr_bytes(&b->adj) + (b->symmetric ? 0 : csr_bytes(&b->out)) +
           (numbered ? b->adj.edges * (int64_t)sizeof *b->out_edge : 0) +
           (b->graphs + 1) * (int64_t)sizeof *b->offset;
}

static void set_encoding_bound(struct row *row, const struct workload *w, const struct batch *b)
{
    const struct encoding_config *c = &w->config.parts.pe;
    if (!encoding_any(c))
        return;
    struct encoding_bound bound = encoding_bound(c, b, w->config.threads);
    row->encoding.storage = encoding_storage(c, b);
    if (bound.iterates) {
        row_put_reason(row, &row->encoding.bound.flops, bound.label);
        row_put_reason(row, &row->encoding.bound.bytes, bound.label);
    } else {
        row_put_count(row, &row->encoding.bound.flops, bound.flops);
        row_put_count(row, &row->encoding.bound.bytes, bound.bytes);
    }
    row_put_count(row, &row->encoding.bound.peak, bound.peak);
    row->encoding.bound.label = row_keep(row, bound.label);
}

void fields_batch(struct row *row, const struct workload *w)
{
    const struct batch *b = workload_whole(w);
    const struct config *c = &w->config;
    struct batching_work useful = batching_work(b, BATCHING_RAGGED);
    row->parameters = program_parameters(&c->parts);
    set_inputs(row, w);
    row->nodes = useful.rows / b->graphs; /* known only after a */
    row->batch = b->graphs;               /* file has been read */
    row->graph.nodes = useful.rows;
    row->graph.edges = b->adj.edges;
    row->graph.pairs = useful.pairs;
    if (b->graphs > 1)
        set_batching(row, b);
    row->graph.bytes = structure_bytes(w, b);
    set_encoding_bound(row, w, b);
    if (c->ranks == 1) {
        row->ranks.count = 1;
        row->ranks.parallel = row_keep(row, parallel_name((int)c->parallel));
        row->ranks.partition = row_keep(row, partition_name((int)c->partition));
    }
    if (w->options->device.meta || w->group.ranks)
        return;
    set_degrees(row, &b->adj);
    if (c->order != ORDER_NONE && w->order_seconds > 0)
        row->graph.order_seconds = w->order_seconds;
}

static void set_group(struct row *row, const struct workload *w)
{
    const struct ranks *group = w->group.ranks;
    int threads = group->count * w->config.threads;
    row->ranks.mpi = row_keep(row, group->mpi);
    row->ranks.hosts = group->hosts;
    row->ranks.load = (double)threads / group->hosts / w->options->cores;
}

static void set_boundary(struct row *row, const struct workload *w)
{
    int64_t halo_nodes = 0, cut = 0;
    for (int r = 0; r < w->group.ranks->count; r++) {
        halo_nodes = max_of(halo_nodes, w->group.facts[r].halo_nodes);
        cut += w->group.facts[r].cut;
    }
    row->ranks.halo_nodes_max = halo_nodes;
    if (row->graph.edges > 0)
        row->ranks.cut = (double)cut / (double)row->graph.edges;
}

void fields_ranks(struct row *row, const struct workload *w)
{
    struct rank_facts most = w->group.facts[0], least = most;
    int64_t flops_most = 0, flops = 0;
    for (int r = 0; r < w->group.ranks->count; r++) {
        const struct rank_facts *f = &w->group.facts[r];
        int64_t own = fields_total(f->cost).flops;
        most.nodes = max_of(most.nodes, f->nodes);
        least.nodes = min_of(least.nodes, f->nodes);
        most.edges = max_of(most.edges, f->edges);
        least.edges = min_of(least.edges, f->edges);
        most.arena = max_of(most.arena, f->arena);
        flops_most = max_of(flops_most, own);
        flops += own;
    }
    if (!w->options->device.meta)
        set_group(row, w);
    row->ranks.nodes_max = most.nodes;
    row->ranks.nodes_min = least.nodes;
    row->ranks.edges_max = most.edges;
    row->ranks.edges_min = least.edges;
    row->ranks.memory = most.arena;
    if (w->batch.halo.ranks)
        set_boundary(row, w);
    if (w->group.partition)
        row->ranks.partition_seconds = w->group.partition_seconds;
    row_put_real(row, &row->ranks.imbalance, (double)flops_most * w->group.ranks->count / (double)flops);
}
