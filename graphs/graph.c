/*
 * Batches of graphs, and the families they are drawn from.
 *
 * The sizes of B graphs of mean N are uniform on [N - h, N + h], h = floor(N / 2), and sum to B N exactly:
 * they come in antithetic couples N + s, N - s, and a graph without a partner has N nodes. So does a single
 * graph.
 */
#include "graphs/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/er.h"
#include "kernels/rng.h"

const struct graph_family graph_families[] = {
    {"er", er_edges, er_draw, "uniform random simple graph G(n, m), m = floor(nodes * degree / 2 + 1/2)"},
    {0},
};

static const struct graph_family *find_family(const char *name)
{
    const struct graph_family *f = graph_families;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

static bool config_valid(const struct graph_config *c, char *error, size_t size)
{
    if (!find_family(c->family)) {
        int length = snprintf(error, size, "graph family '%s' is unknown; there is", c->family);
        for (const struct graph_family *f = graph_families; f->name && length < (int)size; f++)
            length += snprintf(error + length, size - (size_t)length, " %s", f->name);
    } else if (c->nodes < 1 || c->nodes > CSR_MAX_NODES)
        snprintf(error, size, "nodes is %" PRId64 ", must be from 1 to %" PRId64, c->nodes, CSR_MAX_NODES);
    else if (!isfinite(c->degree) || c->degree < 0)
        snprintf(error, size, "degree is %g, must be a number from 0 up", c->degree);
    else if (c->graphs < 1 || c->graphs > CSR_MAX_NODES / c->nodes)
        snprintf(error, size,
                 "graphs is %" PRId64 ", must be from 1 to %" PRId64 " for %" PRId64 " nodes each", c->graphs,
                 CSR_MAX_NODES / c->nodes, c->nodes);
    else
        return true;
    return false;
}

static int64_t size_of_graph(const struct graph_config *c, int64_t g)
{
    if (g % 2 == 0 && g + 1 == c->graphs)
        return c->nodes;
    int64_t half = c->nodes / 2;
    uint64_t bits = rng_bits(rng_key(c->seed, "graph.sizes"), (uint64_t)g / 2);
    int64_t shift = (int64_t)(bits % (uint64_t)(2 * half + 1)) - half;
    return g % 2 ? c->nodes - shift : c->nodes + shift;
}

bool batch_shape(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    *b = (struct batch){0};
    if (!config_valid(c, error, error_size))
        return false;
    b->offset = reallocarray(NULL, (size_t)c->graphs + 1, sizeof *b->offset);
    if (!b->offset) {
        snprintf(error, error_size, "no memory for the sizes of %" PRId64 " graphs", c->graphs);
        return false;
    }
    b->graphs = c->graphs;
    b->offset[0] = 0;
    for (int64_t g = 0; g < c->graphs; g++) {
        int64_t size = size_of_graph(c, g);
        b->offset[g + 1] = b->offset[g] + size;
        b->pairs += size * size;
        b->adj.edges += find_family(c->family)->edges(size, c->degree);
        b->clamped |= c->degree > (double)(size - 1);
    }
    b->adj.nodes = b->offset[c->graphs];
    return true;
}

static void draw_edges(uint64_t *edge, const struct batch *b, const struct graph_config *c)
{
    const struct graph_family *f = find_family(c->family);
    uint64_t stream = rng_key(c->seed, "graph");
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t first = b->offset[g], size = b->offset[g + 1] - first;
        f->draw(edge, first, size, c->degree, rng_bits(stream, (uint64_t)g));
        edge += f->edges(size, c->degree);
    }
}

bool batch_generate(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    if (!batch_shape(b, c, error, error_size))
        return false;
    int64_t nodes = b->adj.nodes, edges = b->adj.edges;
    uint64_t *edge = reallocarray(NULL, (size_t)edges, sizeof *edge);
    bool done = false;
    if (edge) {
        draw_edges(edge, b, c);
        done = csr_build(&b->adj, nodes, edge, edges, error, error_size);
    } else
        snprintf(error, error_size, "no memory to draw a graph of %" PRId64 " nodes and %" PRId64 " edges",
                 nodes, edges);
    free(edge);
    if (!done)
        batch_free(b);
    return done;
}

/* The list of packed edges, and its copy while it is sorted; the columns take the place of the copy
 * afterwards. */
int64_t batch_scratch(const struct batch *b)
{
    return 2 * b->adj.edges * (int64_t)sizeof(uint64_t) - b->adj.edges * (int64_t)sizeof *b->adj.col;
}

void batch_free(struct batch *b)
{
    csr_free(&b->adj);
    free(b->offset);
    *b = (struct batch){0};
}
