/*
 * An edge is a cell of the adjacency matrix of 2^k >= n nodes, found by choosing a quadrant k times: each
 * choice gives one bit of the sender and one of the receiver, the highest first. Cells beyond n and on the
 * diagonal are drawn again. Each edge has a random stream of its own and is computed independently, however
 * often it is drawn again.
 *
 * Hubs would have low numbers; a random permutation of the nodes prevents that, as in Graph500.
 */
#include "graphs/rmat.h"

#include "graphs/pairs.h"
#include "graphs/permutation.h"
#include "kernels/rng.h"

/* Where the quadrants end in [0, 2^32): both bits 0, the receiver's 1, the sender's 1, both 1. */
static const uint32_t none_below = (uint32_t)(0.57 * 0x1p32), to_below = (uint32_t)(0.76 * 0x1p32),
                      from_below = (uint32_t)(0.95 * 0x1p32);

static int64_t pairs_with_repeats(const struct graph_spec *g)
{
    static const double most = 0x1p60; /* more than any machine holds, and less than an int64_t */
    double pairs = (double)g->nodes * g->degree / 2 + 0.5;
    return g->nodes < 2 ? 0 : (int64_t)(pairs < most ? pairs : most);
}

int64_t rmat_edges(const struct graph_spec *g)
{
    return 2 * pairs_with_repeats(g);
}

struct cell {
    int64_t from, to;
};

/* The cell after `levels` choices, drawn from the stream `key` beginning at *draws. */
static struct cell draw_cell(uint64_t key, uint64_t *draws, int levels)
{
    int64_t from = 0, to = 0;
    uint64_t bits = 0;
    for (int level = 0; level < levels; level++) {
        bits = level % 2 ? bits >> 32 : rng_bits(key, (*draws)++);
        uint32_t choice = (uint32_t)bits;
        from = from << 1 | (choice >= to_below);
        to = to << 1 | ((choice >= none_below && choice < to_below) || choice >= from_below);
    }
    return (struct cell){from, to};
}

struct matrix {
    int64_t nodes;
    int levels;
    uint64_t stream;
    struct permutation label;
};

static struct node_pair edge_at(const void *graph, int64_t k)
{
    const struct matrix *m = graph;
    uint64_t key = rng_bits(m->stream, (uint64_t)k), draws = 0;
    struct cell c;
    do
        c = draw_cell(key, &draws, m->levels);
    while (c.from >= m->nodes || c.to >= m->nodes || c.from == c.to);
    return (struct node_pair){(int64_t)permutation_at(&m->label, (uint64_t)c.from),
                              (int64_t)permutation_at(&m->label, (uint64_t)c.to)};
}

bool rmat_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct matrix m = {.nodes = g->nodes,
                       .stream = rng_bits(g->key, 0),
                       .label = permutation_make(rng_bits(g->key, 1), (uint64_t)g->nodes)};
    while (g->nodes > INT64_C(1) << m.levels)
        m.levels++;
    return pairs_draw(edge, g, pairs_with_repeats(g), edge_at, &m);
}
