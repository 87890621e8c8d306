#include "tests/batches.h"

#include "kernels/rng.h"

#include <stdio.h>
#include <stdlib.h>

static _Noreturn void fail(const char *error)
{
    fprintf(stderr, "batches: %s\n", error);
    abort();
}

struct batch batch_er(int64_t nodes, int64_t graphs)
{
    struct graph_config g = {.family = "er", .nodes = nodes, .degree = 3, .graphs = graphs, .seed = 1};
    struct batch b;
    char error[256];
    if (!batch_generate(&b, &g, error, sizeof error) || !batch_number_edges(&b, &g, error, sizeof error))
        fail(error);
    return b;
}

/* A batch of these graphs and edges, which are sorted in place. */
static struct batch batch_of_edges(const int64_t *offset, int64_t graphs, uint64_t *edge, int64_t edges)
{
    struct batch b = {.graphs = graphs, .offset = malloc((size_t)(graphs + 1) * sizeof *b.offset)};
    char error[256] = "no memory";
    for (int64_t g = 0; b.offset && g <= graphs; g++) {
        b.offset[g] = offset[g];
        b.pairs += g ? (offset[g] - offset[g - 1]) * (offset[g] - offset[g - 1]) : 0;
    }
    if (!b.offset || !csr_build(&b.adj, offset[graphs], edge, edges, NEVER_CANCELLED, error, sizeof error) ||
        !csr_transpose(&b.out, &b.adj, NEVER_CANCELLED, error, sizeof error) ||
        !batch_number_edges(&b, &(struct graph_config){0}, error, sizeof error))
        fail(error);
    return b;
}

struct batch batch_awkward(void)
{
    static const int64_t offset[] = {0, 7, 8, 12, 24, 27};
    enum { EDGES = 60 };
    uint64_t edge[EDGES] = {csr_edge(7, 7), csr_edge(24, 26), csr_edge(24, 26), csr_edge(25, 25)};
    for (int e = 4; e < EDGES; e++) {
        int64_t g = e % 4 ? 3 : 0, size = offset[g + 1] - offset[g];
        edge[e] = csr_edge(offset[g] + (int64_t)(rng_bits(5, (uint64_t)(2 * e)) % (uint64_t)size),
                           offset[g] + (int64_t)(rng_bits(5, (uint64_t)(2 * e + 1)) % (uint64_t)(size - 1)));
    }
    return batch_of_edges(offset, 5, edge, EDGES);
}

struct batch batch_relabelled(const struct batch *b, const int64_t *to)
{
    uint64_t *edge = malloc((size_t)b->adj.edges * sizeof *edge);
    if (!edge)
        fail("no memory");
    for (int64_t i = 0; i < b->adj.nodes; i++)
        for (int64_t e = b->adj.row_ptr[i]; e < b->adj.row_ptr[i + 1]; e++)
            edge[e] = csr_edge(to[b->adj.col[e]], to[i]);
    struct batch relabelled = batch_of_edges(b->offset, b->graphs, edge, b->adj.edges);
    free(edge);
    return relabelled;
}
