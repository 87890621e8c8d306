/*
 * Of B blocks the first n mod B are large, with floor(n / B) + 1 nodes, the others small, with one node less.
 * The pairs within blocks are numbered block by block. Those between blocks are numbered in three groups: of
 * two large blocks, of two small ones, and of one each; in a group by the pair of blocks, then by the pair of
 * nodes. Edge k is the pair with number P(k), P a random permutation, for each kind of pair, as in er.
 */
#include "graphs/sbm.h"

#include "graphs/pairs.h"
#include "graphs/permutation.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"

struct blocks {
    int64_t count, large, size; /* blocks; large ones, of size + 1 nodes; nodes of a small one */
    int64_t pairs_in, edges_in, pairs_out, edges_out;
    struct permutation in, out; /* of the pairs */
};

static int64_t share_of(int64_t pairs, double p)
{
    return min_of(pairs, (int64_t)((double)pairs * p + 0.5));
}

static struct blocks blocks_of_graph(const struct graph_spec *g)
{
    int64_t count = (int64_t)g->value[SBM_BLOCKS];
    struct blocks b = {.count = count, .large = g->nodes % count, .size = g->nodes / count};
    b.pairs_in = b.large * pairs_of(b.size + 1) + (count - b.large) * pairs_of(b.size);
    b.pairs_out = pairs_of(g->nodes) - b.pairs_in;
    b.edges_in = share_of(b.pairs_in, g->value[SBM_P_IN]);
    b.edges_out = share_of(b.pairs_out, g->value[SBM_P_OUT]);
    return b;
}

int64_t sbm_edges(const struct graph_spec *g)
{
    struct blocks b = blocks_of_graph(g);
    return 2 * (b.edges_in + b.edges_out);
}

static int64_t size_of(const struct blocks *b, int64_t block)
{
    return b->size + (block < b->large);
}

/* The first node of a block. */
static int64_t start_of(const struct blocks *b, int64_t block)
{
    return block * b->size + min_of(block, b->large);
}

static struct node_pair pair_within(const struct blocks *b, int64_t index)
{
    int64_t of_large = b->large * pairs_of(b->size + 1);
    bool large = index < of_large;
    int64_t rest = large ? index : index - of_large, each = pairs_of(b->size + large);
    int64_t start = start_of(b, (large ? 0 : b->large) + rest / each);
    struct node_pair p = node_pair_at((uint64_t)(rest % each));
    return (struct node_pair){start + p.low, start + p.high};
}

/* The pair of nodes at `index` of all pairs of the two blocks. */
static struct node_pair pair_of_blocks(const struct blocks *b, int64_t low, int64_t high, int64_t index)
{
    int64_t width = size_of(b, high);
    return (struct node_pair){start_of(b, low) + index / width, start_of(b, high) + index % width};
}

static struct node_pair pair_between(const struct blocks *b, int64_t index)
{
    int64_t large = b->large, small = b->count - large, size = b->size;
    int64_t both_large = pairs_of(large) * (size + 1) * (size + 1),
            both_small = pairs_of(small) * size * size;
    if (index < both_large) {
        int64_t cells = (size + 1) * (size + 1);
        struct node_pair p = node_pair_at((uint64_t)(index / cells));
        return pair_of_blocks(b, p.low, p.high, index % cells);
    }
    index -= both_large;
    if (index < both_small) {
        struct node_pair p = node_pair_at((uint64_t)(index / (size * size)));
        return pair_of_blocks(b, large + p.low, large + p.high, index % (size * size));
    }
    index -= both_small;
    int64_t cells = (size + 1) * size, blocks = index / cells;
    return pair_of_blocks(b, blocks / small, large + blocks % small, index % cells);
}

static struct node_pair edge_at(const void *graph, int64_t k)
{
    const struct blocks *b = graph;
    if (k < b->edges_in)
        return pair_within(b, (int64_t)permutation_at(&b->in, (uint64_t)k));
    return pair_between(b, (int64_t)permutation_at(&b->out, (uint64_t)(k - b->edges_in)));
}

bool sbm_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct blocks b = blocks_of_graph(g);
    b.in = permutation_make(rng_bits(g->key, 0), (uint64_t)b.pairs_in);
    b.out = permutation_make(rng_bits(g->key, 1), (uint64_t)b.pairs_out);
    return pairs_draw(edge, g, b.edges_in + b.edges_out, edge_at, &b);
}
