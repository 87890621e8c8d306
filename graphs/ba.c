/*
 * The method of Batagelj and Brandes ("Efficient generation of large random networks", Phys. Rev. E 71, 2005)
 * for simple graphs. A node occurs among the ends of the edges so far as often as its degree, so a uniformly
 * drawn end is a node drawn in proportion to its degree. The list of edges itself is the array of ends: each
 * edge is in it in both directions, so the senders are all ends. The edges of a node count as ends only after
 * all of them are chosen, and a node that was already chosen is drawn again.
 *
 * The very first edge has no ends to choose from and chooses uniformly. A node with as many edges as there
 * are nodes before it is joined to all of them; with h = degree / 2 this holds for all nodes up to floor(h),
 * and of later nodes at most node floor(h) + 1 can be asked for more edges than there are nodes. Hence the
 * closed form of the number of edges. If h is below 1 some nodes join without an edge and stay isolated,
 * since preference never selects them.
 */
#include "graphs/ba.h"

#include <math.h>
#include <stdlib.h>

#include "graphs/csr.h"
#include "graphs/pairs.h"
#include "kernels/rng.h"

/* The number of edges with which node i joins; h is half the mean degree. */
static int64_t edges_of(int64_t i, double h)
{
    double asked = floor((double)(i + 1) * h) - floor((double)i * h);
    return asked < (double)i ? (int64_t)asked : i;
}

int64_t ba_edges(const struct graph_spec *g)
{
    double h = g->degree / 2;
    if (h >= (double)(g->nodes - 1))
        return g->nodes * (g->nodes - 1);
    int64_t whole = (int64_t)h;
    double later = floor((double)g->nodes * h) - floor((double)(whole + 2) * h);
    return whole * (whole + 1) + 2 * (edges_of(whole + 1, h) + (int64_t)later);
}

/* The graph drawn so far. */
struct growth {
    uint64_t *edge;
    int64_t first, edges;
    int32_t *chosen_by; /* for each node the last node that chose it; 0: none, since node 0 chooses none */
    uint64_t key, draws;
};

static void join(struct growth *g, int64_t node, int64_t target)
{
    g->chosen_by[target] = (int32_t)node;
    pair_write(g->edge + g->edges, g->first + node, g->first + target);
    g->edges += 2;
}

/* A node below i, drawn by preference among the first `ends` ends. */
static int64_t draw_target(struct growth *g, int64_t i, int64_t ends)
{
    uint64_t bits = rng_bits(g->key, g->draws++);
    if (ends == 0)
        return (int64_t)(bits % (uint64_t)i);
    return csr_edge_from(g->edge[bits % (uint64_t)ends]) - g->first;
}

static void join_by_preference(struct growth *g, int64_t i, int64_t edges)
{
    int64_t ends = g->edges;
    while (edges > 0) {
        int64_t target = draw_target(g, i, ends);
        if (g->chosen_by[target] == i)
            continue;
        join(g, i, target);
        edges--;
    }
}

int64_t ba_scratch(const struct graph_spec *g)
{
    return g->nodes * (int64_t)sizeof(int32_t);
}

bool ba_draw(uint64_t *edge, const struct graph_spec *spec)
{
    struct growth g = {.edge = edge, .first = spec->first, .key = spec->key};
    g.chosen_by = calloc((size_t)spec->nodes, sizeof *g.chosen_by);
    if (!g.chosen_by)
        return false;
    bool going = true;
    for (int64_t i = 1; i < spec->nodes && going; i++) {
        int64_t edges = edges_of(i, spec->degree / 2);
        going = !is_cancelled(spec->cancel);
        if (edges < i)
            join_by_preference(&g, i, edges);
        else
            for (int64_t target = 0; target < i; target++)
                join(&g, i, target);
    }
    free(g.chosen_by);
    return going;
}
