/*
 * Node v joins the one to its left, unless a row begins with v, and the one above, unless v is in the first
 * row of c columns. Of the nodes below v, ceil(v / c) begin a row and min(v, c) are in the first, so that
 * v - ceil(v / c) + v - min(v, c) edges come before those of v, and each node writes its own.
 */
#include "graphs/grid.h"

#include <math.h>

#include "graphs/csr.h"
#include "kernels/arithmetic.h"

enum { PARALLEL_FROM = 4096 }; /* nodes that outweigh the start of a team of threads */

static int64_t columns_of(int64_t nodes)
{
    /* The root is right but for rounding; whole numbers settle it. */
    int64_t columns = (int64_t)sqrt((double)nodes);
    while (columns * columns < nodes)
        columns++;
    return columns;
}

/* Undirected edges of the nodes below v. */
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

bool grid_draw(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key)
{
    (void)degree;
    (void)key;
    int64_t columns = columns_of(nodes);
#pragma omp parallel for if (nodes >= PARALLEL_FROM)
    for (int64_t v = 0; v < nodes; v++) {
        uint64_t *place = edge + 2 * pairs_before(v, columns);
        if (v % columns)
            place = join(place, first + v - 1, first + v);
        if (v >= columns)
            join(place, first + v - columns, first + v);
    }
    return true;
}
