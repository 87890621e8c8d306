/*
 * Batches of graphs of a family.
 *
 * The sizes of B graphs with mean N are uniform on [N - h, N + h], h = floor(N / 2), and sum to B N exactly:
 * they come in antithetic pairs N + s, N - s, and a graph without a partner, or a single graph, has N nodes.
 * The N of a shape (graphs/family.h) need not be whole: each pair sums to 2 N up to rounding, and the batch
 * to floor(B N).
 */
#include "graphs/draw.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/components.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"

enum { BLOCK = 1 << 18 /* undirected edges: 4 MiB, which a cache holds */ };

/* Mean nodes of a graph. */
static double mean_nodes(const struct graph_config *c, const struct graph_name *n)
{
    return n->shape ? n->shape->nodes : (double)c->nodes;
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

bool draw_shape(struct batch *b, const struct graph_config *c, const struct graph_name *n, char *error,
                size_t error_size)
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
    b->peak = csr_build_peak(&b->adj, b->adj.edges * (int64_t)sizeof(uint64_t) + scratch);
    b->out = b->adj;
    b->symmetric = true;
    return true;
}

struct graph_spec draw_spec(const struct batch *b, const struct graph_config *c, const struct graph_name *n,
                            int64_t g)
{
    struct graph_spec s = spec_of(c, n);
    s.first = b->offset[g];
    s.nodes = b->offset[g + 1] - s.first;
    s.key = rng_bits(rng_key(c->seed, "graph"), (uint64_t)(b->part.graph + g));
    return s;
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
    int64_t taken = 0;
    bool drawn = true;
    if (b->part.empty)
        return true;
#pragma omp parallel for schedule(dynamic) reduction(&& : drawn) if (b->graphs >= 4 * omp_get_max_threads())
    for (int64_t g = 0; g < b->graphs; g++) {
        struct graph_spec s = draw_spec(b, c, n, g);
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

static void say_not_drawn(const struct graph_config *c, int64_t nodes, int64_t edges, char *error,
                          size_t size)
{
    snprintf(error, size, "%s a graph of %" PRId64 " nodes and %" PRId64 " edges",
             is_cancelled(c->limits.cancel) ? "stopped while drawing" : "no memory to draw", nodes, edges);
}

bool draw_batch(struct batch *b, const struct graph_config *c, const struct graph_name *n, char *error,
                size_t error_size)
{
    if (!draw_shape(b, c, n, error, error_size) || !batch_can_alloc(b, c, b->peak, error, error_size))
        return false;
    int64_t nodes = b->adj.nodes, edges = b->adj.edges;
    uint64_t *edge = reallocarray(NULL, (size_t)edges, sizeof *edge);
    bool done = false;
    if (edge && draw_edges(edge, b, c, n))
        done = csr_build(&b->adj, nodes, edge, edges, c->limits.cancel, error, error_size);
    else
        say_not_drawn(c, nodes, edges, error, error_size);
    free(edge);
    b->out = b->adj;
    return done && (!n->giant || batch_keep_giant_components(b, error, error_size));
}

/* Undirected edges that are in memory at once. */
static int64_t block_of(const struct graph_family *f, const struct graph_spec *s)
{
    int64_t pairs = f->edges(s) / 2;
    return f->ranged ? min_of(pairs, BLOCK) : pairs;
}

/* Draws a graph, in memory for a block. */
static bool draw_graph(struct edge_taker *d, const struct graph_family *f, struct graph_spec s,
                       uint64_t *edge, const struct graph_config *c, char *error, size_t size)
{
    int64_t pairs = f->edges(&s) / 2, block = block_of(f, &s);
    for (s.begin = 0; s.begin < pairs; s.begin = s.end) {
        s.end = min_of(pairs, s.begin + block);
        if (!f->draw(edge, &s)) {
            say_not_drawn(c, s.nodes, 2 * pairs, error, size);
            return false;
        }
        if (!d->take(d, &s, edge, error, size))
            return false;
    }
    return true;
}

bool draw_in_blocks(struct edge_taker *d, struct batch *b, const struct graph_config *c,
                    const struct graph_name *n, char *error, size_t error_size)
{
    const struct graph_family *f = n->family;
    int64_t block = 0, scratch = 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        struct graph_spec s = draw_spec(b, c, n, g);
        if (!d->wants(d, &s))
            continue;
        block = max_of(block, block_of(f, &s));
        scratch = max_of(scratch, f->scratch ? f->scratch(&s) : 0);
    }
    d->bytes += 2 * block * (int64_t)sizeof(uint64_t) + scratch;
    if (!batch_can_alloc(b, c, d->bytes, error, error_size))
        return false;
    uint64_t *edge = reallocarray(NULL, (size_t)(2 * block), sizeof *edge);
    bool done = edge;
    if (!edge)
        snprintf(error, error_size, "no memory to draw %" PRId64 " edges", 2 * block);
    for (int64_t g = 0; g < b->graphs && done; g++) {
        struct graph_spec s = draw_spec(b, c, n, g);
        done = !d->wants(d, &s) || draw_graph(d, f, s, edge, c, error, error_size);
    }
    free(edge);
    return done;
}
