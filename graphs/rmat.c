/*
 * An edge is a cell of the adjacency matrix of 2^k >= n nodes, found by choosing a quadrant k times: each
 * choice gives one bit of the sender and one of the receiver, the highest first. Cells beyond n and on the
 * diagonal are drawn again. Each edge has a random stream of its own and is computed independently, however
 * often it is drawn again.
 *
 * Hubs would have low numbers; a random permutation of the nodes prevents that, as in Graph500.
 */
#include "graphs/rmat.h"

#include "graphs/blocks.h"
#include "graphs/csr.h"
#include "graphs/permutation.h"
#include "kernels/rng.h"

/* Where the quadrants end in [0, 2^32): both bits 0, the receiver's 1, the sender's 1, both 1. */
static const uint32_t none_below = (uint32_t)(0.57 * 0x1p32), to_below = (uint32_t)(0.76 * 0x1p32),
                      from_below = (uint32_t)(0.95 * 0x1p32);

int64_t rmat_edges(int64_t nodes, double degree)
{
    static const double most = 0x1p60; /* more than any machine holds, and less than an int64_t */
    double pairs = (double)nodes * degree / 2 + 0.5;
    return nodes < 2 ? 0 : 2 * (int64_t)(pairs < most ? pairs : most);
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

bool rmat_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key,
               struct cancel cancel)
{
    int64_t pairs = rmat_edges(nodes, degree) / 2;
    uint64_t stream = rng_bits(key, 0);
    struct permutation label = permutation_make(rng_bits(key, 1), (uint64_t)nodes);
    int levels = 0;
    while (nodes > INT64_C(1) << levels)
        levels++;
    for (struct graph_block part = {0}; graph_block_next(&part, pairs, cancel);) {
#pragma omp parallel for if (part.end - part.first >= PARALLEL_FROM)
        for (int64_t k = part.first; k < part.end; k++) {
            uint64_t edge_key = rng_bits(stream, (uint64_t)k), draws = 0;
            struct cell c;
            do
                c = draw_cell(edge_key, &draws, levels);
            while (c.from >= nodes || c.to >= nodes || c.from == c.to);
            int64_t a = first + (int64_t)permutation_at(&label, (uint64_t)c.from);
            int64_t b = first + (int64_t)permutation_at(&label, (uint64_t)c.to);
            edge[2 * k] = csr_edge(a, b);
            edge[2 * k + 1] = csr_edge(b, a);
        }
    }
    return !is_cancelled(cancel);
}
