/*
 * Batches of graphs: of a family, drawn; of a file, read.
 */
#include "graphs/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/batching.h"
#include "graphs/draw.h"
#include "graphs/edge_list.h"
#include "graphs/giant_component.h"
#include "graphs/graph_file.h"
#include "graphs/halo.h"
#include "kernels/arithmetic.h"

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
        b->peak = max_of(b->peak, csr_bytes(&b->adj) + csr_build_peak(&out, 0));
        if (symmetric) {
            csr_free(&out);
            out = b->adj;
        }
    }
    b->out = out;
    b->symmetric = symmetric;
    return true;
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
    int64_t peak = csr_build_peak(&g, list_bytes(b, list));
    return list->mirrored ? peak : max_of(peak, csr_bytes(&g) + csr_build_peak(&g, 0));
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
    struct graph_file_name name;
    graph_file_name(c->family, &name);
    const struct graph_source source = {name.path, name.undirected, c->limits, error, size, name.names};
    struct edge_list list;
    if (!graph_file_read(&list, &source)) {
        b->peak = list.peak;
        return false;
    }
    bool mirrored = list.mirrored, both_listed = list.both_listed;
    take_offset(b, &list);
    b->entries = list.entries;
    b->notes = list.notes;
    bool done = batch_can_alloc(b, c, file_peak(b, &list), error, size) &&
                csr_build(&b->adj, list.nodes, list.edge, list.edges, c->limits.cancel, error, size);
    if (done)
        b->peak = csr_build_peak(&b->adj, list_bytes(b, &list));
    edge_list_free(&list);
    if (done && name.unique)
        csr_drop_repeated(&b->adj);
    return done && reverse_edges(b, c, mirrored, error, size) &&
           (!both_listed || b->symmetric || say_one_way(b, source.path, error, size));
}

/* Pads the batch if that is asked for. */
static bool pad_if_asked(struct batch *b, const struct graph_config *c, char *error, size_t size)
{
    if (c->batching != BATCHING_PADDED || batch_pad(b, error, size))
        return true;
    batch_drop(b);
    return false;
}

/* Of ranks that divide the nodes, the part of one: drawn as such, unless only the whole can be drawn. */
static bool draw_family(struct batch *b, const struct graph_config *c, const struct graph_name *n,
                        char *error, size_t size)
{
    struct graph_config all = *c;
    if (!c->by_nodes)
        return draw_batch(b, c, n, error, size);
    if (!n->giant)
        return draw_part(b, c, n, error, size);
    all.ranks = all.rank = 0;
    return draw_batch(b, &all, n, error, size) && batch_divide(b, c, error, size);
}

bool batch_generate(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    *b = (struct batch){0};
    struct graph_name n;
    bool done = config_valid(c, &n, error, error_size) &&
                (n.family ? draw_family(b, c, &n, error, error_size) : read_file(b, c, error, error_size));
    if (!done)
        batch_drop(b);
    return done && pad_if_asked(b, c, error, error_size);
}

bool batch_shape(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    struct graph_name n;
    *b = (struct batch){0};
    if (!config_valid(c, &n, error, error_size))
        return false;
    if (!n.family || (n.giant && c->by_nodes)) {
        bool read = batch_generate(b, c, error, error_size);
        batch_drop_arrays(b);
        return read;
    }
    if (!(n.giant ? giant_components_shape : draw_shape)(b, c, &n, error, error_size)) {
        batch_drop(b);
        return false;
    }
    return pad_if_asked(b, c, error, error_size);
}

bool batch_number_edges(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    const struct csr *g = &b->adj;
    int64_t graph = csr_bytes(g) + (b->symmetric ? 0 : csr_bytes(&b->out));
    int64_t bytes = graph + (g->edges + g->nodes) * (int64_t)sizeof *b->out_edge;
    bool done = batch_can_alloc(b, c, bytes, error, error_size);
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
