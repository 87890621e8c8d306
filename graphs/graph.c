/*
 * Batches of graphs.
 *
 * The sizes of B graphs with mean N are uniform on [N - h, N + h], h = floor(N / 2), and sum to B N exactly:
 * they come in antithetic pairs N + s, N - s, and a graph without a partner, or a single graph, has N nodes.
 * The N of a shape (graphs/family.h) need not be whole: each pair sums to 2 N up to rounding, and the batch
 * to floor(B N).
 */
#include "graphs/graph.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/batching.h"
#include "graphs/components.h"
#include "graphs/edge_list.h"
#include "graphs/graph_file.h"
#include "graphs/name.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"

/* Mean nodes of a graph. */
static double mean_nodes(const struct graph_config *c, const struct graph_name *n)
{
    return n->shape ? n->shape->nodes : (double)c->nodes;
}

/* Whether the configuration is possible; reads its name. */
static bool config_valid(const struct graph_config *c, struct graph_name *n, char *error, size_t size)
{
    if (!graph_name_read(c->family, n, error, size))
        return false;
    int64_t nodes = n->shape ? (int64_t)ceil(n->shape->nodes) : c->nodes;
    if (!n->family) {
        if (c->graphs == 1)
            return true;
        snprintf(error, size, "graphs is %" PRId64 ", must be 1 for a file, which has its own", c->graphs);
    } else if (nodes < 1 || nodes > CSR_MAX_NODES)
        snprintf(error, size, "nodes is %" PRId64 ", must be from 1 to %" PRId64, nodes, CSR_MAX_NODES);
    else if (!n->shape && (!isfinite(c->degree) || c->degree < 0))
        snprintf(error, size, "degree is %g, must be a number, at least 0", c->degree);
    else if (c->graphs < 1 || c->graphs > CSR_MAX_NODES / nodes)
        snprintf(error, size,
                 "graphs is %" PRId64 ", must be from 1 to %" PRId64 " for %" PRId64 " nodes each", c->graphs,
                 CSR_MAX_NODES / nodes, nodes);
    else
        return true;
    return false;
}

/* Peak bytes of generating the list of edges, sorting it, and filling the rows from it. */
static int64_t building_peak(const struct csr *g, int64_t list_peak)
{
    int64_t list = g->edges * (int64_t)sizeof(uint64_t), filling = list + csr_bytes(g);
    return max_of(list_peak, max_of(2 * list, filling));
}

/* Sets `out`; `symmetric` if the family guarantees it. An asymmetric batch has arrays for both directions. */
static bool reverse_edges(struct batch *b, const struct graph_config *c, bool symmetric, char *error,
                          size_t size)
{
    struct csr out = b->adj;
    if (!symmetric) {
        if (!csr_transpose(&out, &b->adj, c->limits.cancel, error, size))
            return false;
        symmetric = csr_equal(&out, &b->adj);
        /* Transposing needs a list of the edges, as building does, beside the graph. */
        b->peak = max_of(b->peak, csr_bytes(&b->adj) + building_peak(&out, 0));
        if (symmetric) {
            csr_free(&out);
            out = b->adj;
        }
    }
    b->out = out;
    b->symmetric = symmetric;
    return true;
}

bool batch_may_take(struct batch *b, const struct graph_config *c, int64_t bytes, char *error, size_t size)
{
    if (c->limits.memory <= 0 || bytes <= c->limits.memory)
        return true;
    b->peak = bytes;
    snprintf(error, size, "building the graph needs %" PRId64 " MiB, more than the %" PRId64 " MiB allowed",
             bytes >> 20, c->limits.memory >> 20);
    return false;
}

/* The nodes of graph g; those of the pairs before sum to floor(2 N pairs). */
static int64_t size_of_graph(const struct graph_config *c, double mean, int64_t g)
{
    int64_t pair = g / 2, before = (int64_t)(2 * mean * (double)pair);
    if (g % 2 == 0 && g + 1 == c->graphs)
        return (int64_t)(mean * (double)c->graphs) - before;
    int64_t sum = (int64_t)(2 * mean * (double)(pair + 1)) - before, half = (int64_t)(mean / 2);
    uint64_t bits = rng_bits(rng_key(c->seed, "graph.sizes"), (uint64_t)pair);
    int64_t size = sum / 2 + (int64_t)(bits % (uint64_t)(2 * half + 1)) - half;
    return g % 2 ? sum - size : size;
}

/* Everything about a graph of the batch but its nodes and key. */
static struct graph_spec spec_of(const struct graph_config *c, const struct graph_name *n)
{
    struct graph_spec s = {.degree = n->shape ? graph_shape_degree(n->shape) : c->degree,
                           .cancel = c->limits.cancel};
    memcpy(s.value, n->value, sizeof s.value);
    return s;
}

static bool alloc_offset(struct batch *b, int64_t graphs, char *error, size_t size)
{
    b->offset = reallocarray(NULL, (size_t)graphs + 1, sizeof *b->offset);
    if (!b->offset) {
        snprintf(error, size, "no memory for the sizes of %" PRId64 " graphs", graphs);
        return false;
    }
    b->graphs = graphs;
    b->offset[0] = 0;
    return true;
}

/*
 * The rank that has a graph with this many nodes before it: consecutive graphs have the same, so that each
 * has about as many nodes.
 */
static int rank_of(const struct graph_config *c, const struct batch_part *all, int64_t before, int64_t nodes)
{
    return c->ranks > 1 ? (int)((double)c->ranks * ((double)before + (double)nodes / 2) / (double)all->nodes)
                        : 0;
}

/* Returns the bytes that drawing it needs. */
static int64_t add_graph(struct batch *b, const struct graph_family *f, const struct graph_spec *s)
{
    int64_t g = b->graphs++;
    b->offset[g + 1] = b->offset[g] + s->nodes;
    b->pairs += s->nodes * s->nodes;
    b->adj.edges += f->edges(s);
    b->clamped |= graph_family_clamps(f, s->nodes, s->degree);
    return f->scratch && b->adj.edges <= CSR_MAX_EDGES ? f->scratch(s) : 0;
}

/* A graph of a rank before. */
static void skip_graph(struct batch_part *p, const struct graph_family *f, const struct graph_spec *s)
{
    p->graph++;
    p->node += s->nodes;
    p->edge += f->edges(s);
}

static void place_hold(struct batch *b)
{
    b->part.empty = true;
    b->graphs = b->offset[1] = b->pairs = 1;
}

static bool shape_family(struct batch *b, const struct graph_config *c, const struct graph_name *n,
                         char *error, size_t error_size)
{
    const struct graph_family *f = n->family;
    struct graph_spec s = spec_of(c, n);
    double mean = mean_nodes(c, n);
    int64_t scratch = 0;
    if (!alloc_offset(b, c->graphs, error, error_size))
        return false;
    b->graphs = 0;
    b->part = (struct batch_part){.graphs = c->graphs, .nodes = (int64_t)(mean * (double)c->graphs)};
    for (int64_t g = 0, nodes = 0; g < c->graphs && b->adj.edges <= CSR_MAX_EDGES; g++, nodes += s.nodes) {
        s.nodes = size_of_graph(c, mean, g);
        int rank = rank_of(c, &b->part, nodes, s.nodes);
        if (rank == c->rank)
            scratch += add_graph(b, f, &s);
        else if (rank < c->rank)
            skip_graph(&b->part, f, &s);
    }
    if (b->adj.edges > CSR_MAX_EDGES) {
        batch_free(b);
        snprintf(error, error_size,
                 "%" PRId64 " %s of %.10g nodes and degree %g: more than %" PRId64 " edges", c->graphs,
                 c->graphs == 1 ? "graph" : "graphs", mean, s.degree, CSR_MAX_EDGES);
        return false;
    }
    if (b->graphs == 0)
        place_hold(b);
    b->adj.nodes = b->offset[b->graphs];
    b->peak = building_peak(&b->adj, b->adj.edges * (int64_t)sizeof(uint64_t) + scratch);
    b->out = b->adj;
    b->symmetric = true;
    return true;
}

/*
 * Threads share the graphs if there are enough, otherwise the edges of each graph: inside a parallel region
 * the parallel regions of the families have one thread. In the first case the order of the graphs in the list
 * depends on the threads; sorting makes the result independent of it.
 */
static bool draw_edges(uint64_t *edge, const struct batch *b, const struct graph_config *c,
                       const struct graph_name *n)
{
    const struct graph_family *f = n->family;
    uint64_t stream = rng_key(c->seed, "graph");
    int64_t taken = 0;
    bool drawn = true;
    if (b->part.empty)
        return true;
#pragma omp parallel for schedule(dynamic) reduction(&& : drawn) if (b->graphs >= 4 * omp_get_max_threads())
    for (int64_t g = 0; g < b->graphs; g++) {
        struct graph_spec s = spec_of(c, n);
        s.first = b->offset[g];
        s.nodes = b->offset[g + 1] - s.first;
        s.key = rng_bits(stream, (uint64_t)(b->part.graph + g));
        int64_t edges = f->edges(&s), place;
#pragma omp atomic capture
        {
            place = taken;
            taken += edges;
        }
        drawn = f->draw(edge + place, &s) && drawn;
    }
    return drawn;
}

static bool draw_family(struct batch *b, const struct graph_config *c, const struct graph_name *n,
                        char *error, size_t error_size)
{
    if (!shape_family(b, c, n, error, error_size) || !batch_may_take(b, c, b->peak, error, error_size))
        return false;
    int64_t nodes = b->adj.nodes, edges = b->adj.edges;
    uint64_t *edge = reallocarray(NULL, (size_t)edges, sizeof *edge);
    bool done = false;
    if (edge && draw_edges(edge, b, c, n))
        done = csr_build(&b->adj, nodes, edge, edges, c->limits.cancel, error, error_size) &&
               reverse_edges(b, c, true, error, error_size);
    else
        snprintf(error, error_size, "%s a graph of %" PRId64 " nodes and %" PRId64 " edges",
                 is_cancelled(c->limits.cancel) ? "stopped while drawing" : "no memory to draw", nodes,
                 edges);
    free(edge);
    return done && (!n->giant || batch_keep_giants(b, error, error_size));
}

/* Takes the graphs and offsets of an edge list. */
static void take_offset(struct batch *b, struct edge_list *list)
{
    b->graphs = list->graphs;
    b->offset = list->offset;
    list->offset = NULL;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t size = b->offset[g + 1] - b->offset[g];
        b->pairs += size * size;
    }
}

/* Bytes of reading the list, without the offsets, which the batch keeps. */
static int64_t list_bytes(const struct batch *b, const struct edge_list *list)
{
    return list->peak - (b->graphs + 1) * (int64_t)sizeof *b->offset;
}

/* What building takes in the end. */
static int64_t file_peak(const struct batch *b, const struct edge_list *list)
{
    struct csr g = {.nodes = list->nodes, .edges = list->edges};
    int64_t peak = building_peak(&g, list_bytes(b, list));
    return list->mirrored ? peak : max_of(peak, csr_bytes(&g) + building_peak(&g, 0));
}

/* An edge that a file does not list in both directions, where it must. */
static bool say_one_way(const struct batch *b, const char *path, char *error, size_t size)
{
    int64_t i = 0;
    while (i < b->adj.nodes && b->adj.row_ptr[i + 1] == b->out.row_ptr[i + 1] &&
           memcmp(b->adj.col + b->adj.row_ptr[i], b->out.col + b->adj.row_ptr[i],
                  (size_t)(b->adj.row_ptr[i + 1] - b->adj.row_ptr[i]) * sizeof *b->adj.col) == 0)
        i++;
    snprintf(error, size, "%.200s: an edge of node %" PRId64 " is not listed by both its ends", path, i + 1);
    return false;
}

static bool read_file(struct batch *b, const struct graph_config *c, char *error, size_t size)
{
    const struct graph_source source = {strchr(c->family, ':') + 1, *c->family == 'u', c->limits, error,
                                        size};
    struct edge_list list;
    if (!graph_file_read(&list, &source)) {
        b->peak = list.peak;
        return false;
    }
    bool mirrored = list.mirrored, both_listed = list.both_listed;
    take_offset(b, &list);
    b->entries = list.entries;
    bool done = batch_may_take(b, c, file_peak(b, &list), error, size) &&
                csr_build(&b->adj, list.nodes, list.edge, list.edges, c->limits.cancel, error, size);
    if (done)
        b->peak = building_peak(&b->adj, list_bytes(b, &list));
    edge_list_free(&list);
    return done && reverse_edges(b, c, mirrored, error, size) &&
           (!both_listed || b->symmetric || say_one_way(b, source.path, error, size));
}

void batch_drop_inputs(struct batch *b)
{
    struct batch_inputs *in = &b->inputs;
    free(in->features.value);
    free(in->edge_features.value);
    free(in->targets.value);
    free(in->label);
    in->features.value = in->edge_features.value = in->targets.value = NULL;
    in->label = NULL;
}

static void free_halo(struct halo *h)
{
    free(h->first);
    free(h->get_at);
    free(h->send_at);
    free(h->send);
    free(h->offset);
    *h = (struct halo){0};
}

static void free_arrays(struct batch *b)
{
    struct csr adj = b->adj, out = b->out;
    if (out.row_ptr != adj.row_ptr)
        csr_free(&out);
    csr_free(&adj);
    free(b->out_edge);
    free_halo(&b->halo);
    batch_drop_inputs(b);
    b->out_edge = NULL;
    b->adj.row_ptr = b->out.row_ptr = NULL;
    b->adj.col = b->out.col = NULL;
}

void batch_drop(struct batch *b)
{
    int64_t peak = b->peak;
    batch_free(b);
    b->peak = peak;
}

/* Pads the batch if that is asked for. */
static bool made_as_asked(struct batch *b, const struct graph_config *c, char *error, size_t size)
{
    if (c->batching != BATCHING_PADDED || batch_pad(b, error, size))
        return true;
    batch_drop(b);
    return false;
}

bool batch_generate(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    *b = (struct batch){0};
    struct graph_name n;
    bool done = config_valid(c, &n, error, error_size) &&
                (n.family ? draw_family(b, c, &n, error, error_size) : read_file(b, c, error, error_size));
    if (!done)
        batch_drop(b);
    return done && made_as_asked(b, c, error, error_size);
}

bool batch_shape(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    struct graph_name n;
    *b = (struct batch){0};
    if (!config_valid(c, &n, error, error_size))
        return false;
    if (!n.family || n.giant) {
        bool read = batch_generate(b, c, error, error_size);
        free_arrays(b);
        return read;
    }
    return shape_family(b, c, &n, error, error_size) && made_as_asked(b, c, error, error_size);
}

bool batch_number_edges(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    const struct csr *g = &b->adj;
    int64_t graph = csr_bytes(g) + (b->symmetric ? 0 : csr_bytes(&b->out));
    int64_t bytes = graph + (g->edges + g->nodes) * (int64_t)sizeof *b->out_edge;
    bool done = batch_may_take(b, c, bytes, error, error_size);
    b->peak = max_of(b->peak, bytes);
    if (done && g->row_ptr) {
        b->out_edge = csr_number_transpose(&b->out, g);
        done = b->out_edge;
        if (!done)
            snprintf(error, error_size, "no memory to number %" PRId64 " edges", g->edges);
    }
    if (!done)
        batch_drop(b);
    return done;
}

int64_t batch_scratch(const struct batch *b)
{
    return b->peak - csr_bytes(&b->adj);
}

void batch_free(struct batch *b)
{
    free_arrays(b);
    free(b->offset);
    free(b->nodes);
    *b = (struct batch){0};
}
