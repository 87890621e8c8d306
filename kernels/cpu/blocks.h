/*
 * Division of a ragged batch into blocks of rows within one graph.
 *
 * Blocks are numbered without a table: those of graph g begin at number at[g] / size + g. A graph may have
 * one number more than blocks; that block is empty.
 */
#ifndef GTMARK_KERNELS_CPU_BLOCKS_H
#define GTMARK_KERNELS_CPU_BLOCKS_H

#include "kernels/cpu/cpu.h"
#include "kernels/offsets.h"

#include <string.h>

struct block {
    int64_t graph, first, rows; /* rows first .. first + rows - 1 of the batch */
};

static inline int64_t block_count(struct offsets graphs, int64_t rows, int64_t size)
{
    return rows / size + graph_count(graphs);
}

/* The number of graph g's first block. */
static inline int64_t block_first(struct offsets graphs, int64_t size, int64_t g)
{
    return graph_first(graphs, g) / size + g;
}

static inline struct block block_at(struct offsets graphs, int64_t size, int64_t number)
{
    int64_t low = 0, high = graph_count(graphs);
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (block_first(graphs, size, middle) <= number)
            low = middle;
        else
            high = middle;
    }
    int64_t first = graph_first(graphs, low) + (number - block_first(graphs, size, low)) * size;
    return (struct block){low, first, max_of(0, min_of(size, graph_first(graphs, low + 1) - first))};
}

/* Sets the rows after the last graph to zero, unless m is added to. */
static inline void clear_rows_of_none(struct mat m, struct offsets graphs)
{
    for (int64_t i = graph_first(graphs, graph_count(graphs)); i < m.rows && !m.acc; i++)
        memset(row_of(m, i), 0, (size_t)m.cols * sizeof(float));
}

/*
 * Task i of one per head and block: graph by graph, and within each head by head, so that adjacent tasks have
 * the same keys.
 */
struct head_block {
    int64_t number, head;
};

static inline struct head_block head_block_at(struct offsets graphs, int64_t size, int64_t heads, int64_t i)
{
    int64_t g = block_at(graphs, size, i / heads).graph, first = block_first(graphs, size, g);
    int64_t blocks = block_first(graphs, size, g + 1) - first, rest = i - first * heads;
    return (struct head_block){first + rest % blocks, rest / blocks};
}

/* pairs[g] = the pairs of the graphs before g, in rows of an H x P matrix (kernels/ops.def). */
static inline void begin_pairs(struct offsets graphs, struct offsets keys, int64_t *pairs)
{
    for (int64_t g = 0, at = 0; g < graph_count(graphs); g++) {
        pairs[g] = at;
        at += graph_size(graphs, g) * graph_size(keys, g);
    }
}

#endif
