/* Pair (low, high) has number high (high - 1) / 2 + low. */
#include "graphs/pairs.h"

#include <math.h>

#include "graphs/blocks.h"
#include "graphs/csr.h"

int64_t pairs_of(int64_t nodes)
{
    return nodes * (nodes - 1) / 2;
}

struct node_pair node_pair_at(uint64_t index)
{
    /* The root may be off by rounding; integer arithmetic corrects it, so that the pair is the same
     * everywhere. */
    int64_t rank = (int64_t)index, high = (int64_t)((1 + sqrt(1 + 8 * (double)index)) / 2);
    while (pairs_of(high) > rank)
        high--;
    while (pairs_of(high + 1) <= rank)
        high++;
    return (struct node_pair){rank - pairs_of(high), high};
}

int64_t pairs_asked(const struct graph_spec *g)
{
    int64_t most = pairs_of(g->nodes);
    double pairs = (double)g->nodes * g->degree / 2 + 0.5;
    return pairs < (double)most ? (int64_t)pairs : most;
}

uint64_t *pair_write(uint64_t *edge, int64_t a, int64_t b)
{
    edge[0] = csr_edge(a, b);
    edge[1] = csr_edge(b, a);
    return edge + 2;
}

bool pairs_draw(uint64_t *edge, const struct graph_spec *g, int64_t pairs,
                struct node_pair (*at)(const void *graph, int64_t k), const void *graph)
{
    int64_t end = g->end ? min_of(g->end, pairs) : pairs;
    for (struct graph_block part = {.end = g->begin}; graph_block_next(&part, end, g->cancel);) {
#pragma omp parallel for if (part.end - part.first >= PARALLEL_FROM)
        for (int64_t k = part.first; k < part.end; k++) {
            struct node_pair p = at(graph, k);
            pair_write(edge + 2 * (k - g->begin), g->first + p.low, g->first + p.high);
        }
    }
    return !is_cancelled(g->cancel);
}
