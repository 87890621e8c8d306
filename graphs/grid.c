/*
 * Node v is joined to the one before it, unless v begins a row of c nodes; to the one above, unless v is in
 * the first row of a layer of l nodes; and to the one in the layer before, unless v is in the first layer. Of
 * the nodes before v, ceil(v / c) begin a row, floor(v / l) c + min(v mod l, c) are in the first row of their
 * layer, and min(v, l) in the first layer; so the number of edges before those of v is known, and each node
 * can write its own. A grid of two dimensions is a single layer.
 */
#include "graphs/grid.h"

#include <math.h>

#include "graphs/blocks.h"
#include "graphs/pairs.h"

struct lattice {
    int64_t columns, layer; /* nodes of a row and of a layer */
};

static struct lattice plane_of(int64_t nodes)
{
    /* The root may be off by rounding; integer arithmetic corrects it. */
    int64_t columns = (int64_t)sqrt((double)nodes);
    while (columns * columns < nodes)
        columns++;
    return (struct lattice){columns, nodes};
}

static struct lattice space_of(int64_t nodes)
{
    int64_t columns = (int64_t)cbrt((double)nodes);
    while (columns * columns * columns < nodes)
        columns++;
    return (struct lattice){columns, columns * columns};
}

/* The number of undirected edges of the nodes before v. */
static int64_t pairs_before(int64_t v, struct lattice l)
{
    int64_t first_row = v / l.layer * l.columns + min_of(v % l.layer, l.columns);
    return v - blocks_of(v, l.columns) + v - first_row + v - min_of(v, l.layer);
}

static bool draw(uint64_t *edge, const struct graph_spec *g, struct lattice l)
{
    for (struct graph_block part = {0}; graph_block_next(&part, g->nodes, g->cancel);) {
#pragma omp parallel for if (part.end - part.first >= PARALLEL_FROM)
        for (int64_t v = part.first; v < part.end; v++) {
            uint64_t *place = edge + 2 * pairs_before(v, l);
            int64_t node = g->first + v;
            if (v % l.columns)
                place = pair_write(place, node - 1, node);
            if (v % l.layer >= l.columns)
                place = pair_write(place, node - l.columns, node);
            if (v >= l.layer)
                pair_write(place, node - l.layer, node);
        }
    }
    return !is_cancelled(g->cancel);
}

int64_t grid_edges(const struct graph_spec *g)
{
    return 2 * pairs_before(g->nodes, plane_of(g->nodes));
}

bool grid_draw(uint64_t *edge, const struct graph_spec *g)
{
    return draw(edge, g, plane_of(g->nodes));
}

int64_t grid3d_edges(const struct graph_spec *g)
{
    return 2 * pairs_before(g->nodes, space_of(g->nodes));
}

bool grid3d_draw(uint64_t *edge, const struct graph_spec *g)
{
    return draw(edge, g, space_of(g->nodes));
}
