/*
 * Lookup of a row's graph, and the division of a ragged batch into blocks of rows within one graph, from
 * offsets in device memory: `at` holds count + 1 ascending bounds with stride `ld`.
 *
 * Blocks are numbered without a table, as in kernels/cpu/blocks.h: those of graph g begin at number at[g] /
 * size + g. A graph may have one number more than blocks; that block is empty.
 */
#ifndef GTMARK_KERNELS_CUDA_SEARCH_H
#define GTMARK_KERNELS_CUDA_SEARCH_H

#include "kernels/offsets.h"

/*
 * The last range g with at[g] <= value; count is at least 1. With empty ranges, this is the one that contains
 * the value, if any does.
 */
GT_DEVICE static inline int64_t range_of(const int64_t *at, int64_t ld, int64_t count, int64_t value)
{
    int64_t low = 0, high = count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (at[middle * ld] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct row_block {
    int64_t graph;
    int64_t first, rows;             /* rows first .. first + rows - 1 of the batch */
    int64_t graph_first, graph_rows; /* those of the entire graph */
};

/* The number of block numbers for `rows` rows in `graphs` graphs; some blocks are empty. */
GT_DEVICE static inline int64_t block_count(int64_t rows, int64_t graphs, int64_t size)
{
    return rows / size + graphs;
}

/* The number of graph g's first block. */
GT_DEVICE static inline int64_t block_first(const int64_t *at, int64_t ld, int64_t size, int64_t g)
{
    return at[g * ld] / size + g;
}

GT_DEVICE static inline struct row_block block_at(const int64_t *at, int64_t ld, int64_t graphs, int64_t size,
                                                  int64_t number)
{
    int64_t low = 0, high = graphs;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (block_first(at, ld, size, middle) <= number)
            low = middle;
        else
            high = middle;
    }
    struct row_block b;
    b.graph = low;
    b.graph_first = at[low * ld];
    b.graph_rows = at[(low + 1) * ld] - b.graph_first;
    int64_t before = (number - block_first(at, ld, size, low)) * size;
    b.first = b.graph_first + before;
    b.rows = max_of(0, min_of(size, b.graph_rows - before));
    return b;
}

#endif
