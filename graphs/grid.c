/*
 * Node v is joined to the one before it, unless v begins a row of c nodes; to the one above, unless v is in
 * the first row of a layer of l nodes; and to the one in the layer before, unless v is in the first layer.
 * The edges are numbered in these three groups, each by v. Of the nodes below n, ceil(n / c) begin a row,
 * floor(n / l) c + min(n mod l, c) are in the first row of their layer, and min(n, l) in the first layer,
 * which gives the sizes of the groups; and since each row lacks one node, and each layer c, the node of an
 * edge. A grid of two dimensions is a single layer.
 */
#include "graphs/grid.h"

#include <math.h>

#include "graphs/pairs.h"
#include "kernels/arithmetic.h"

struct lattice {
    int64_t columns, layer;        /* nodes of a row and of a layer */
    int64_t in_rows, between_rows; /* edges */
};

/* With the edges to the node before, and to the one above. */
static struct lattice lattice_of(int64_t nodes, int64_t columns, int64_t layer)
{
    int64_t first_row = nodes / layer * columns + min_of(nodes % layer, columns);
    return (struct lattice){columns, layer, nodes - blocks_of(nodes, columns), nodes - first_row};
}

static struct lattice plane_of(int64_t nodes)
{
    /* The root may be off by rounding; integer arithmetic corrects it. */
    int64_t columns = (int64_t)sqrt((double)nodes);
    while (columns * columns < nodes)
        columns++;
    return lattice_of(nodes, columns, nodes);
}

static struct lattice space_of(int64_t nodes)
{
    int64_t columns = (int64_t)cbrt((double)nodes);
    while (columns * columns * columns < nodes)
        columns++;
    return lattice_of(nodes, columns, columns * columns);
}

static struct node_pair edge_at(const void *graph, int64_t k)
{
    const struct lattice *l = graph;
    if (k < l->in_rows) {
        int64_t v = k + k / (l->columns - 1) + 1;
        return (struct node_pair){v - 1, v};
    }
    k -= l->in_rows;
    if (k < l->between_rows) {
        int64_t v = k + (k / (l->layer - l->columns) + 1) * l->columns;
        return (struct node_pair){v - l->columns, v};
    }
    k -= l->between_rows;
    return (struct node_pair){k, k + l->layer};
}

static int64_t pairs_of_lattice(const struct graph_spec *g, const struct lattice *l)
{
    return l->in_rows + l->between_rows + max_of(0, g->nodes - l->layer);
}

int64_t grid_edges(const struct graph_spec *g)
{
    struct lattice l = plane_of(g->nodes);
    return 2 * pairs_of_lattice(g, &l);
}

bool grid_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct lattice l = plane_of(g->nodes);
    return pairs_draw(edge, g, pairs_of_lattice(g, &l), edge_at, &l);
}

int64_t grid3d_edges(const struct graph_spec *g)
{
    struct lattice l = space_of(g->nodes);
    return 2 * pairs_of_lattice(g, &l);
}

bool grid3d_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct lattice l = space_of(g->nodes);
    return pairs_draw(edge, g, pairs_of_lattice(g, &l), edge_at, &l);
}
