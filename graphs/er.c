/*
 * G(n, m): m pairs of nodes, drawn without replacement from all n (n - 1) / 2 pairs.
 *
 * The pairs are numbered, and edge k of the graph is pair number P(k), where P is a random permutation of the
 * numbers that can be evaluated at any point: the edges are distinct by construction, no draw is rejected or
 * stored, and each is computed independently.
 */
#include "graphs/er.h"

#include "graphs/pairs.h"
#include "graphs/permutation.h"

int64_t er_edges(const struct graph_spec *g)
{
    return 2 * pairs_asked(g);
}

static struct node_pair edge_at(const void *order, int64_t k)
{
    return node_pair_at(permutation_at(order, (uint64_t)k));
}

bool er_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct permutation order = permutation_make(g->key, (uint64_t)pairs_of(g->nodes));
    return pairs_draw(edge, g, pairs_asked(g), edge_at, &order);
}
