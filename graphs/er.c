/*
 * G(n, m): m pairs of nodes, drawn without replacement from all n (n - 1) / 2 pairs.
 *
 * The pairs are numbered, and edge k of the graph is pair number P(k), where P is a random permutation of the
 * numbers that can be evaluated at any point: the edges are distinct by construction, no draw is rejected or
 * stored, and each is computed independently. Pair (low, high) has number high (high - 1) / 2 + low.
 */
#include "graphs/er.h"

#include <math.h>

#include "graphs/blocks.h"
#include "graphs/csr.h"
#include "graphs/permutation.h"

static int64_t pairs_below(int64_t nodes)
{
    return nodes * (nodes - 1) / 2;
}

int64_t er_edges(int64_t nodes, double degree)
{
    int64_t most = pairs_below(nodes);
    double edges = (double)nodes * degree / 2 + 0.5;
    return 2 * (edges < (double)most ? (int64_t)edges : most);
}

struct node_pair node_pair_at(uint64_t index)
{
    /* The root may be off by rounding; integer arithmetic corrects it, so that the pair is the same
     * everywhere. */
    int64_t rank = (int64_t)index, high = (int64_t)((1 + sqrt(1 + 8 * (double)index)) / 2);
    while (pairs_below(high) > rank)
        high--;
    while (pairs_below(high + 1) <= rank)
        high++;
    return (struct node_pair){rank - pairs_below(high), high};
}

bool er_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key, struct cancel cancel)
{
    int64_t pairs = er_edges(nodes, degree) / 2;
    struct permutation order = permutation_make(key, (uint64_t)pairs_below(nodes));
    for (struct graph_block part = {0}; graph_block_next(&part, pairs, cancel);) {
#pragma omp parallel for if (part.end - part.first >= PARALLEL_FROM)
        for (int64_t k = part.first; k < part.end; k++) {
            struct node_pair p = node_pair_at(permutation_at(&order, (uint64_t)k));
            edge[2 * k] = csr_edge(first + p.low, first + p.high);
            edge[2 * k + 1] = csr_edge(first + p.high, first + p.low);
        }
    }
    return !is_cancelled(cancel);
}
