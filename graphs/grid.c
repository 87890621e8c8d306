/*
 * Node v is joined to the one on its left, unless v begins a row, and to the one above, unless v is in the
 * first row of c columns. Of the nodes before v, ceil(v / c) begin a row and min(v, c) are in the first row,
 * so v - ceil(v / c) + v - min(v, c) edges come before those of v, and each node can write its own.
 */
#include "graphs/grid.h"

#include <math.h>

#include "graphs/blocks.h"
#include "graphs/csr.h"
#include "kernels/arithmetic.h"

static int64_t columns_of(int64_t nodes)
{
    /* The root may be off by rounding; integer arithmetic corrects it. */
    int64_t columns = (int64_t)sqrt((double)nodes);
    while (columns * columns < nodes)
        columns++;
    return columns;
}

/* The number of undirected edges of the nodes before v. */
static int64_t pairs_before(int64_t v, int64_t columns)
{
    return v - blocks_of(v, columns) + max_of(0, v - columns);
}

int64_t grid_edges(int64_t nodes, double degree)
{
    (void)degree;
    return 2 * pairs_before(nodes, columns_of(nodes));
}

static uint64_t *join(uint64_t *edge, int64_t a, int64_t b)
{
    edge[0] = csr_edge(a, b);
    edge[1] = csr_edge(b, a);
    return edge + 2;
}

bool grid_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key,
               struct cancel cancel)
{
    (void)degree;
    (void)key;
    int64_t columns = columns_of(nodes);
    for (struct graph_block part = {0}; graph_block_next(&part, nodes, cancel);) {
#pragma omp parallel for if (part.end - part.first >= PARALLEL_FROM)
        for (int64_t v = part.first; v < part.end; v++) {
            uint64_t *place = edge + 2 * pairs_before(v, columns);
            if (v % columns)
                place = join(place, first + v - 1, first + v);
            if (v >= columns)
                join(place, first + v - columns, first + v);
        }
    }
    return !is_cancelled(cancel);
}
