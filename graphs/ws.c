/*
 * Edge k of the lattice goes from node v = k mod n to node v + 1 + floor(k / n), modulo n: first all edges
 * to the next node, then those to the one after, and so on, which meets any mean degree.
 *
 * A rewired edge of v goes to a node v + a whose distance a no edge of the lattice has, and which is less
 * than n / 2. So only v can draw this pair of nodes, and the graph is simple if the edges of v draw different
 * distances, which they take from a random permutation. Each edge is computed independently, and nothing is
 * drawn again. In the original a node draws from both sides of the ring; here half as many nodes can draw a
 * pair, each with twice the probability. An edge stays where no distance is left for it.
 */
#include "graphs/ws.h"

#include "graphs/pairs.h"
#include "graphs/permutation.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"

struct ring {
    int64_t nodes, near,
        far; /* distances of the lattice: 1 .. near; of rewired edges: near + 1 .. near + far */
    double beta;
    uint64_t choices, targets; /* random streams */
};

int64_t ws_edges(const struct graph_spec *g)
{
    return 2 * pairs_asked(g);
}

static struct node_pair edge_at(const void *graph, int64_t k)
{
    const struct ring *r = graph;
    int64_t v = k % r->nodes, level = k / r->nodes, ahead = level + 1;
    double choice = (double)(rng_bits(r->choices, (uint64_t)k) >> 11) * 0x1p-53;
    if (level < r->far && choice < r->beta) {
        struct permutation order = permutation_make(rng_bits(r->targets, (uint64_t)v), (uint64_t)r->far);
        ahead = r->near + 1 + (int64_t)permutation_at(&order, (uint64_t)level);
    }
    return (struct node_pair){v, (v + ahead) % r->nodes};
}

bool ws_draw(uint64_t *edge, const struct graph_spec *g)
{
    int64_t pairs = pairs_asked(g), near = blocks_of(pairs, g->nodes);
    struct ring r = {.nodes = g->nodes,
                     .near = near,
                     .far = max_of(0, (g->nodes - 1) / 2 - near),
                     .beta = g->value[WS_BETA],
                     .choices = rng_bits(g->key, 0),
                     .targets = rng_bits(g->key, 1)};
    return pairs_draw(edge, g, pairs, edge_at, &r);
}
