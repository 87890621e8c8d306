/* Edge k of each graph is a function of k. */
#include "graphs/classic.h"

#include "graphs/pairs.h"

int64_t tree_edges(const struct graph_spec *g)
{
    return 2 * (g->nodes - 1);
}

static struct node_pair tree_at(const void *graph, int64_t k)
{
    const struct graph_spec *g = graph;
    return (struct node_pair){k / (int64_t)g->value[TREE_CHILDREN], k + 1};
}

bool tree_draw(uint64_t *edge, const struct graph_spec *g)
{
    return pairs_draw(edge, g, g->nodes - 1, tree_at, g);
}

static struct node_pair path_at(const void *graph, int64_t k)
{
    (void)graph;
    return (struct node_pair){k, k + 1};
}

bool path_draw(uint64_t *edge, const struct graph_spec *g)
{
    return pairs_draw(edge, g, g->nodes - 1, path_at, g);
}

static struct node_pair star_at(const void *graph, int64_t k)
{
    (void)graph;
    return (struct node_pair){0, k + 1};
}

bool star_draw(uint64_t *edge, const struct graph_spec *g)
{
    return pairs_draw(edge, g, g->nodes - 1, star_at, g);
}

int64_t cycle_edges(const struct graph_spec *g)
{
    return 2 * (g->nodes > 2 ? g->nodes : g->nodes - 1);
}

static struct node_pair cycle_at(const void *graph, int64_t k)
{
    const struct graph_spec *g = graph;
    return (struct node_pair){k, (k + 1) % g->nodes};
}

bool cycle_draw(uint64_t *edge, const struct graph_spec *g)
{
    return pairs_draw(edge, g, cycle_edges(g) / 2, cycle_at, g);
}

int64_t complete_edges(const struct graph_spec *g)
{
    return 2 * pairs_of(g->nodes);
}

static struct node_pair complete_at(const void *graph, int64_t k)
{
    (void)graph;
    return node_pair_at((uint64_t)k);
}

bool complete_draw(uint64_t *edge, const struct graph_spec *g)
{
    return pairs_draw(edge, g, pairs_of(g->nodes), complete_at, g);
}
