/* The rows of each graph of a batch, from struct offsets. */
#ifndef GTMARK_KERNELS_OFFSETS_H
#define GTMARK_KERNELS_OFFSETS_H

#include "kernels/arithmetic.h"
#include "kernels/mat.h"

GT_DEVICE static inline int64_t graph_count(struct offsets graphs)
{
    return graphs.at.rows - 1;
}

/* The first row of graph g; for g = the number of graphs, the number of rows. */
GT_DEVICE static inline int64_t graph_first(struct offsets graphs, int64_t g)
{
    return ((const int64_t *)graphs.at.data)[g * graphs.at.ld];
}

GT_DEVICE static inline int64_t graph_size(struct offsets graphs, int64_t g)
{
    return graph_first(graphs, g + 1) - graph_first(graphs, g);
}

#endif
