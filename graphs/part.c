/*
 * The part of a batch that one rank has if ranks divide the nodes.
 *
 * Edges are drawn by their numbers, so a rank draws all edges of a graph in blocks, from the same random
 * streams as one rank alone, and keeps those that end at its nodes. That takes every rank the time of drawing
 * the whole graph, but the memory of its own part, and no messages. A graph of another family is in memory
 * while its edges are picked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graphs/draw.h"
#include "graphs/halo.h"
#include "graphs/partition.h"
#include "kernels/arithmetic.h"

enum { PICK_BLOCK = 1 << 16 };

/* The edges of a rank. */
struct picked {
    struct edge_taker taker;
    struct batch *b;
    const struct graph_config *config;
    int64_t begin, end; /* its nodes */
    uint64_t *edge;     /* with receivers counted from begin */
    int64_t count, room;
    int64_t before; /* edges to nodes before begin */
};

/* Makes room for `more` edges, by half as much again as there is, so that few are copied. */
static bool make_room(struct picked *p, int64_t more, char *error, size_t size)
{
    if (p->count + more <= p->room)
        return true;
    int64_t room = max_of(p->count + more, p->room + p->room / 2);
    if (!batch_can_alloc(p->b, p->config, p->taker.bytes + room * (int64_t)sizeof *p->edge, error, size))
        return false;
    uint64_t *edge = reallocarray(p->edge, (size_t)room, sizeof *edge);
    if (!edge) {
        snprintf(error, size, "no memory for %" PRId64 " edges of a part of the graph", room);
        return false;
    }
    p->edge = edge;
    p->room = room;
    return true;
}

/* There is room. An edge of another rank is overwritten by the next one. */
static void pick_some(struct picked *p, const uint64_t *edge, int64_t edges)
{
    uint64_t begin = (uint64_t)p->begin, own = (uint64_t)(p->end - p->begin), *at = p->edge + p->count;
    const struct partition *n = p->config->partition;
    int64_t before = 0;
    for (int64_t e = 0; e < edges; e++) {
        uint64_t word =
            n ? csr_edge(n->number[csr_edge_from(edge[e])], n->number[csr_edge_to(edge[e])]) : edge[e];
        uint64_t to = word >> 32;
        before += to < begin;
        *at = word - (begin << 32);
        at += to - begin < own;
    }
    p->before += before;
    p->count = at - p->edge;
}

static bool pick(struct edge_taker *d, const struct graph_spec *s, const uint64_t *edge, char *error,
                 size_t size)
{
    struct picked *p = (struct picked *)d;
    int64_t edges = 2 * (s->end - s->begin);
    bool room = true;
    for (int64_t e = 0, some; e < edges && room; e += some) {
        some = min_of(PICK_BLOCK, edges - e);
        room = make_room(p, some, error, size);
        if (room)
            pick_some(p, edge + e, some);
    }
    return room;
}

/* With a partition a rank may have nodes of any graph. */
static bool is_before(const struct picked *p, const struct graph_spec *s)
{
    return !p->config->partition && s->first + s->nodes <= p->begin;
}

static bool has_nodes_of(const struct edge_taker *d, const struct graph_spec *s)
{
    const struct picked *p = (const struct picked *)d;
    return p->config->partition || (!is_before(p, s) && s->first < p->end);
}

/* The edges of the graphs before those of the rank. */
static int64_t edges_before(const struct picked *p, const struct graph_name *n)
{
    int64_t before = 0;
    for (int64_t g = 0; g < p->b->graphs; g++) {
        struct graph_spec s = draw_spec(p->b, p->config, n, g);
        before += is_before(p, &s) ? n->family->edges(&s) : 0;
    }
    return before;
}

/* The rows of the rank's nodes, with senders by their numbers in the batch. */
static bool build_part(struct picked *p, char *error, size_t size)
{
    struct batch *b = p->b;
    int64_t rows = max_of(1, p->end - p->begin), nodes = b->adj.nodes;
    struct csr own = {.nodes = rows, .edges = p->count};
    b->peak = csr_build_peak(&own, p->taker.bytes + p->room * (int64_t)sizeof *p->edge);
    return batch_can_alloc(b, p->config, b->peak, error, size) &&
           csr_build_rows(&b->adj, rows, nodes, p->edge, p->count, p->config->limits.cancel, error, size);
}

bool draw_part(struct batch *b, const struct graph_config *c, const struct graph_name *n, char *error,
               size_t error_size)
{
    struct graph_config all = *c;
    all.rank = all.ranks = 0;
    all.by_nodes = false;
    if (!draw_shape(b, &all, n, error, error_size))
        return false;
    int64_t nodes = b->adj.nodes;
    struct picked p = {.taker = {has_nodes_of, pick, 0},
                       .b = b,
                       .config = c,
                       .begin = halo_first(c, nodes, c->rank),
                       .end = halo_first(c, nodes, c->rank + 1)};
    p.before = edges_before(&p, n);
    bool done = draw_in_blocks(&p.taker, b, c, n, error, error_size) && build_part(&p, error, error_size);
    free(p.edge);
    b->out = b->adj;
    return done && batch_number_halo(b, c, nodes, p.before, error, error_size);
}
