/*
 * Launch planning: grid and block of each kernel from shapes alone, in plain C so that it is tested on the
 * host. A grid has at most 2^31 - 1 blocks in x and 65535 in y; kernels whose work may exceed that use
 * grid-stride loops.
 */
#ifndef GTMARK_KERNELS_CUDA_LAUNCH_H
#define GTMARK_KERNELS_CUDA_LAUNCH_H

#include "kernels/arithmetic.h"
#include "kernels/mat.h"

#include <math.h>

/* The emulated device has fewer, so that small shapes reach the loops over the rest. */
#ifndef MAX_GRID_Y
#define MAX_GRID_Y 65535
#endif

enum {
    LAUNCH_MAX_X = INT32_MAX,
    LAUNCH_MAX_Y = MAX_GRID_Y,
    WARP = 32,
    SCRATCH_ALIGNMENT = 256, /* bytes, of each part of the scratch buffer */
};

/* Blocks in x and y, threads per block, bytes of dynamic shared memory. */
struct launch {
    unsigned grid_x, grid_y, block;
    size_t shared;
};

static inline struct launch launch_of(int64_t grid_x, int64_t grid_y, int block)
{
    struct launch l = {(unsigned)grid_x, (unsigned)grid_y, (unsigned)block, 0};
    return l;
}

/* The number of consecutive floats that one load can read in every row: 4 or 1. 4 for an absent matrix. */
static inline int launch_width(struct mat m)
{
    bool rows = m.rows <= 1 || m.ld % 4 == 0;
    return (uintptr_t)m.data % 16 == 0 && m.cols % 4 == 0 && rows ? 4 : 1;
}

/*
 * linear: a warp processes WARP times `width` columns of a row, and the warps of a block different rows, in a
 * grid-stride loop.
 */
enum { ROWS_WARPS = 8 };

static inline struct launch launch_rows(int64_t rows, int64_t cols, int width)
{
    return launch_of(blocks_of(blocks_of(cols, width), WARP),
                     min_of(blocks_of(rows, ROWS_WARPS), LAUNCH_MAX_Y), WARP * ROWS_WARPS);
}

/*
 * linear_backward: column sums; a block sums WARP columns of one part of the rows. Parts depend only on the
 * number of rows; each has blocks_of(rows, parts) rows, and the last may be shorter or empty.
 */
enum { COLUMN_SUMS_LANES = 8, COLUMN_SUMS_ROWS = 32, COLUMN_SUMS_PARTS = 256 };

static inline int64_t column_sums_parts(int64_t rows)
{
    return min_of(blocks_of(rows, COLUMN_SUMS_ROWS), COLUMN_SUMS_PARTS);
}

static inline struct launch launch_column_sums(int64_t cols, int64_t parts)
{
    return launch_of(blocks_of(cols, WARP), parts, WARP * COLUMN_SUMS_LANES);
}

/* attention: kernel width for heads of dh columns, or 0 if there is none. */
enum { ATTENTION_THREADS = 128, ATTENTION_MOST = 128 /* columns */ };

static inline int attention_width(int64_t dh)
{
    for (int width = 8; width <= ATTENTION_MOST; width *= 2)
        if (dh <= width)
            return width;
    return 0;
}

/*
 * Rows per thread if a warp has `groups` of them side by side: `most` if an average graph fills such blocks
 * and there are enough of them for all multiprocessors, otherwise 1.
 */
static inline int attention_rows(int64_t rows, int64_t graphs, int heads, int groups, int most,
                                 int multiprocessors)
{
    int64_t block = (int64_t)groups * most;
    return rows / graphs >= 2 * block && rows / block * heads >= 2 * multiprocessors ? most : 1;
}

/* One block per head and block number of `size` rows (search.h). */
static inline struct launch launch_attention(int64_t rows, int64_t graphs, int heads, int size)
{
    return launch_of(rows / size + graphs, heads, ATTENTION_THREADS);
}

/* Unfused attention of several graphs: one thread block per head and block number of PRODUCT_TILE rows. */
enum { PRODUCT_TILE = 32, PRODUCT_SIDE = 16 };

static inline struct launch launch_ragged_product(int64_t rows, int64_t graphs, int heads)
{
    return launch_of(rows / PRODUCT_TILE + graphs, heads, PRODUCT_SIDE * PRODUCT_SIDE);
}

/* One warp per query, up to a bound on their number from graphs and pairs; kernels loop over any others. */
enum { SOFTMAX_WARPS = 8 };

static inline struct launch launch_softmax(int64_t graphs, int64_t pairs, int64_t heads)
{
    int64_t queries = (int64_t)sqrt((double)graphs * (double)pairs) + 1;
    return launch_of(min_of(blocks_of(queries, SOFTMAX_WARPS), LAUNCH_MAX_X), heads, SOFTMAX_WARPS * WARP);
}

#endif
