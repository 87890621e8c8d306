/*
 * Launch planning: grid and block of each kernel, and how the threads of a block share the rows and columns
 * of matrices. Plain C, from shapes and addresses, so that it is tested on the host.
 *
 * A grid has at most 2^31 - 1 blocks in x and 65535 in y; kernels whose work may exceed that loop over the
 * rest. A lane processes `width` consecutive entries of a row: 4 (one load of 16 bytes, 8 in BF16) if every
 * row of every operand is aligned to these and has a multiple of 4 columns, otherwise 1; packed matrices
 * (struct lines) are one row in this, with a rest of less than 4 entries. A team is a power of two of
 * consecutive lanes that process one row, so that narrow rows leave no lane idle. Scratch is planned before
 * addresses are known: if it depends on the width, it is the larger of both.
 */
#ifndef GTMARK_KERNELS_CUDA_PLAN_H
#define GTMARK_KERNELS_CUDA_PLAN_H

#include "kernels/arithmetic.h"
#include "kernels/ops.h"

#include <math.h>

enum {
    LAUNCH_MAX_X = INT32_MAX,
    LAUNCH_MAX_Y = 65535,
    SCRATCH_ALIGNMENT = 256, /* bytes, of each part of the scratch buffer */
    WARP = 32,
    WIDE = 4,    /* entries of a load */
    BLOCK = 256, /* threads per block; dense attention has its own */
    LINE = 1024, /* entries per line of packed matrices */
};

/*
 * Registers of a thread at most, which tests/test_machine_code.sh compares with the machine code. A
 * multiprocessor has 65536, enough for two blocks of BLOCK threads, or for one of the kernels with the
 * longest rows or heads (ITEMS_MOST and HEAD_ITEMS vectors per lane), or for two of dense attention on tensor
 * cores.
 */
enum {
    BLOCK_REGISTERS = 128,
    LONG_REGISTERS = 224,
    ATTENTION_REGISTERS = 255,
};

/* Blocks in x, y and z, threads per block, bytes of dynamic shared memory. */
struct launch {
    unsigned grid_x, grid_y, grid_z, block;
    size_t shared;
};

/* A grid of x by y blocks, limited to the largest possible grid. */
static inline struct launch launch_blocks(int64_t x, int64_t y)
{
    struct launch l = {(unsigned)max_of(1, min_of(x, LAUNCH_MAX_X)),
                       (unsigned)max_of(1, min_of(y, LAUNCH_MAX_Y)), 1, BLOCK, 0};
    return l;
}

static inline int64_t scratch_bytes(int64_t count, size_t size)
{
    return round_up(count * (int64_t)size, SCRATCH_ALIGNMENT);
}

/* The part of the scratch buffer at offset `before`, in bytes. */
static inline void *scratch_at(struct call call, int64_t before)
{
    return (char *)call.scratch + before;
}

/* A matrix of floats in the scratch buffer. */
static inline struct mat scratch_mat(struct call call, int64_t before, int64_t rows, int64_t cols)
{
    struct mat m = {scratch_at(call, before), rows, cols, cols, 0, 0, F32, false};
    return m;
}

/* Whether WIDE entries from the first on can be one load; absent matrices do not restrict it. */
static inline bool is_aligned(struct mat m)
{
    return !mat_present(m) || (uintptr_t)m.data % (WIDE * dtype_size(m.dtype)) == 0;
}

/* Entries per lane and load. */
static inline int width_of(const struct mat *m, int count)
{
    for (int i = 0; i < count; i++) {
        bool rows = m[i].rows <= 1 || m[i].ld % WIDE == 0;
        if (!rows || m[i].cols % WIDE || !is_aligned(m[i]))
            return 1;
    }
    return WIDE;
}

/* The smallest power of two that is at least `count`, at most `most`, which is one too. */
static inline int lanes_for(int64_t count, int most)
{
    int lanes = 1;
    while (lanes < count && lanes < most)
        lanes *= 2;
    return lanes;
}

/*
 * Elementwise work on matrices of one shape: lines of `cols` entries, the last of which may be shorter; lane
 * k of the `lanes` of a line processes entries k width, (k + lanes) width, ... Packed matrices (ld = cols)
 * are divided into lines of LINE entries regardless of their shape; otherwise a line is a row.
 */
struct lines {
    int64_t rows, cols, total;
    int width, lanes;
    bool packed;
};

static inline struct lines lines_by_row(int64_t rows, int64_t cols, int width)
{
    struct lines l = {rows, cols, rows * cols, width, lanes_for(blocks_of(cols, width), BLOCK), false};
    return l;
}

/* The first matrix must be present; it determines the shape. */
static inline struct lines lines_of(const struct mat *m, int count)
{
    int64_t total = mat_size(m[0]);
    bool packed = true, wide = true;
    for (int i = 0; i < count; i++) {
        packed = packed && (!mat_present(m[i]) || m[i].rows == 1 || m[i].ld == m[i].cols);
        wide = wide && is_aligned(m[i]);
    }
    if (!packed)
        return lines_by_row(m[0].rows, m[0].cols, width_of(m, count));
    int width = wide ? WIDE : 1;
    struct lines l = {blocks_of(total, LINE), LINE, total, width, lanes_for(LINE / width, BLOCK), true};
    return l;
}

/* A matrix viewed as these lines. */
static inline struct mat lines_view(struct lines l, struct mat m)
{
    if (l.packed)
        m.ld = l.cols;
    return m;
}

static inline struct launch lines_launch(struct lines l)
{
    return launch_blocks(blocks_of(l.rows, BLOCK / l.lanes), 1);
}

/*
 * A team processes a row of `cols` columns and holds `items` vectors per lane: a power of two, or 0 if the
 * row does not fit in registers, or is not aligned: that is rare, and no reason for as many kernels again.
 */
struct row_teams {
    int64_t rows, cols;
    int width, lanes, items;
};

enum { ITEMS_MOST = 8 };

static inline struct row_teams row_teams_of(int64_t rows, int64_t cols, int width)
{
    struct row_teams t = {rows, cols, width, lanes_for(blocks_of(cols, width), WARP), 1};
    int64_t items = blocks_of(cols, (int64_t)t.lanes * width);
    t.items = items > ITEMS_MOST || width < WIDE ? 0 : lanes_for(items, ITEMS_MOST);
    return t;
}

/* At most `most` blocks, which loop over the rows. */
static inline struct launch row_teams_launch(struct row_teams t, int64_t most)
{
    return launch_blocks(min_of(most, blocks_of(t.rows, BLOCK / t.lanes)), 1);
}

/*
 * Column sums over the rows of a matrix: `chunks` runs of `chunk` rows, `strips` runs of columns, one block
 * per pair; within it, teams of `lanes` lanes process every (BLOCK / lanes)-th row. The partition depends
 * only on the shape (and the width, which only moves columns between lanes), so the summation order of a
 * column is the same on every device.
 */
struct columns {
    int64_t rows, cols, chunk, chunks, strips;
    int width, lanes;
};

enum { CHUNK_ROWS = 64, CHUNKS = 512 };

static inline struct columns columns_of(int64_t rows, int64_t cols, int width)
{
    struct columns c;
    c.rows = rows;
    c.cols = cols;
    c.chunk = max_of(CHUNK_ROWS, blocks_of(rows, CHUNKS));
    c.chunks = blocks_of(rows, c.chunk);
    c.width = width;
    c.lanes = lanes_for(blocks_of(cols, width), WARP);
    c.strips = blocks_of(cols, (int64_t)c.lanes * width);
    return c;
}

static inline struct launch columns_launch(struct columns c)
{
    return launch_blocks(c.chunks, c.strips);
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
 * and there are enough of them for 15 of 16 multiprocessors, otherwise 1.
 */
static inline int attention_rows(int64_t rows, int64_t graphs, int heads, int groups, int most,
                                 int multiprocessors)
{
    int64_t block = (int64_t)groups * most;
    return rows / graphs >= 2 * block && 16 * (rows / block * heads) >= 15 * multiprocessors ? most : 1;
}

/* One block of `threads` for each head, in z, and block number of `size` rows (search.h). */
static inline struct launch launch_heads(int64_t rows, int64_t graphs, int heads, int size, int threads)
{
    struct launch l = {(unsigned)(rows / size + graphs), 1, (unsigned)heads, (unsigned)threads, 0};
    return l;
}

/*
 * Unfused attention: one warp per query, up to a bound on their number from graphs and pairs; kernels loop
 * over any others.
 */
static inline struct launch launch_softmax(int64_t graphs, int64_t pairs, int64_t heads)
{
    int64_t queries = (int64_t)sqrt((double)graphs * (double)pairs) + 1;
    struct launch l = launch_blocks(blocks_of(queries, BLOCK / WARP), 1);
    l.grid_z = (unsigned)heads;
    return l;
}

#endif
