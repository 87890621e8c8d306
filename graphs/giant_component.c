/*
 * Components by union and find, with halving of paths: a tree of nodes for each component, whose root is its
 * smallest node, so that the first of several largest is the one with the smallest node.
 */
#include "graphs/giant_component.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "graphs/components.h"
#include "graphs/draw.h"
#include "kernels/arithmetic.h"

/* Room for the largest graph, of one thread. */
struct room {
    uint64_t *edge;
    int32_t *parent, *size;
};

struct giant {
    int64_t nodes, edges;
};

static int32_t root_of(int32_t *parent, int32_t node)
{
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

static void join(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
}

static struct giant giant_of(const struct room *r, const struct graph_spec *s, int64_t edges)
{
    struct giant largest = {0};
    int32_t best = 0;
    for (int32_t i = 0; i < s->nodes; i++) {
        r->parent[i] = i;
        r->size[i] = 0;
    }
    for (int64_t e = 0; e < edges; e++)
        join(r->parent, (int32_t)(csr_edge_from(r->edge[e]) - s->first),
             (int32_t)(csr_edge_to(r->edge[e]) - s->first));
    for (int32_t i = 0; i < s->nodes; i++)
        r->size[root_of(r->parent, i)]++;
    for (int32_t i = 0; i < s->nodes; i++)
        best = r->size[i] > r->size[best] ? i : best;
    for (int64_t e = 0; e < edges; e++)
        largest.edges += root_of(r->parent, (int32_t)(csr_edge_from(r->edge[e]) - s->first)) == best;
    largest.nodes = r->size[best];
    return largest;
}

static struct room room_open(int64_t nodes, int64_t edges)
{
    return (struct room){reallocarray(NULL, (size_t)edges + 1, sizeof(uint64_t)),
                         reallocarray(NULL, (size_t)nodes, sizeof(int32_t)),
                         reallocarray(NULL, (size_t)nodes, sizeof(int32_t))};
}

static void room_close(struct room *r)
{
    free(r->edge);
    free(r->parent);
    free(r->size);
}

/* Sets the giant of each graph; threads as in draw_batch. False without memory, or cancelled. */
static bool find_giant_components(struct giant *giant, const struct batch *b, const struct graph_config *c,
                                  const struct graph_name *n, int64_t nodes, int64_t edges)
{
    int threads = b->graphs >= 4 * omp_get_max_threads() ? omp_get_max_threads() : 1;
    bool done = true;
#pragma omp parallel num_threads(threads) reduction(&& : done) if (threads > 1)
    {
        struct room room = room_open(nodes, edges);
        done = room.edge && room.parent && room.size;
#pragma omp for schedule(dynamic, 16)
        for (int64_t g = 0; g < b->graphs; g++) {
            struct graph_spec s = draw_spec(b, c, n, g);
            int64_t drawn = b->part.empty ? 0 : n->family->edges(&s);
            done = done && (drawn == 0 || n->family->draw(room.edge, &s));
            if (done)
                giant[g] = giant_of(&room, &s, drawn);
        }
        room_close(&room);
    }
    return done;
}

/* Replaces the graphs by their giant components; what draw_batch takes in the end is known of the whole
 * graphs. */
static void take_giant_components(struct batch *b, const struct giant *giant)
{
    int64_t whole = b->adj.nodes;
    b->pairs = b->adj.edges = 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        b->offset[g + 1] = b->offset[g] + giant[g].nodes;
        b->pairs += giant[g].nodes * giant[g].nodes;
        b->adj.edges += giant[g].edges;
    }
    b->adj.nodes = b->offset[b->graphs];
    b->out = b->adj;
    b->peak = max_of(b->peak, csr_bytes(&b->adj) + components_bytes(whole));
}

bool giant_components_shape(struct batch *b, const struct graph_config *c, const struct graph_name *n,
                            char *error, size_t error_size)
{
    int64_t nodes = 1, edges = 0, threads = omp_get_max_threads();
    if (!draw_shape(b, c, n, error, error_size))
        return false;
    for (int64_t g = 0; g < b->graphs && !b->part.empty; g++) {
        struct graph_spec s = draw_spec(b, c, n, g);
        nodes = max_of(nodes, s.nodes);
        edges = max_of(edges, n->family->edges(&s));
    }
    int64_t bytes = b->graphs * (int64_t)sizeof(struct giant) +
                    (b->graphs < 4 * threads ? 1 : threads) * 8 * (nodes + edges);
    if (!batch_can_alloc(b, c, bytes, error, error_size))
        return false;
    struct giant *giant = reallocarray(NULL, (size_t)b->graphs, sizeof *giant);
    bool done = giant && find_giant_components(giant, b, c, n, nodes, edges);
    if (done)
        take_giant_components(b, giant);
    else
        snprintf(error, error_size, "%s %" PRId64 " graphs of up to %" PRId64 " nodes",
                 is_cancelled(c->limits.cancel) ? "stopped while drawing" : "no memory to draw", b->graphs,
                 nodes);
    free(giant);
    return done;
}
