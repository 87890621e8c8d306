/*
 * How the threads of a block share the rows and columns of matrices: plain C, planned on the host from shapes
 * and addresses, tested there.
 *
 * A lane takes `width` neighbouring floats of a row: 4 (one load of 16 bytes) where every row of every
 * operand begins at a multiple of 16 bytes and has a multiple of 4 columns, else 1. A team is a power of two
 * of neighbouring lanes that take one row, so that narrow rows leave no lane idle. Scratch is planned before
 * addresses are known: where it depends on the width it is the larger of both.
 */
#ifndef GTMARK_KERNELS_CUDA_PLAN_H
#define GTMARK_KERNELS_CUDA_PLAN_H

#include "kernels/cuda/launch.h"
#include "kernels/ops.h"

enum {
    WIDE = 4,    /* floats of a 16-byte load */
    BLOCK = 256, /* threads of a block, in all kernels planned here */
    LINE = 1024, /* entries of a line of packed matrices */
};

static inline int64_t scratch_bytes(int64_t count, size_t size)
{
    return round_up(count * (int64_t)size, SCRATCH_ALIGNMENT);
}

/* The part of scratch that begins `before` bytes after its start. */
static inline void *scratch_at(struct call call, int64_t before)
{
    return (char *)call.scratch + before;
}

/* A matrix of floats in scratch. */
static inline struct mat scratch_mat(struct call call, int64_t before, int64_t rows, int64_t cols)
{
    struct mat m = {scratch_at(call, before), rows, cols, cols, 0, 0, F32, false};
    return m;
}

/* The floats that a lane takes at once; absent matrices have no say. */
static inline int width_of(const struct mat *m, int count)
{
    for (int i = 0; i < count; i++)
        if (launch_width(m[i]) == 1)
            return 1;
    return WIDE;
}

/* The smallest power of two that is at least `count`, or `most`, itself one. */
static inline int lanes_for(int64_t count, int most)
{
    int lanes = 1;
    while (lanes < count && lanes < most)
        lanes *= 2;
    return lanes;
}

/* A grid of as many blocks as there are, or as a grid can have: kernels loop over the rest. */
static inline struct launch launch_blocks(int64_t x, int64_t y)
{
    return launch_of(max_of(1, min_of(x, LAUNCH_MAX_X)), max_of(1, min_of(y, LAUNCH_MAX_Y)), BLOCK);
}

/*
 * Entries of matrices of one shape, for ops that work entry by entry: lines of `cols` entries, the last of
 * which may be shorter; lane k of the `lanes` of a line takes entries k width, (k + lanes) width, ... Packed
 * matrices (ld = cols) are cut into lines of LINE entries whatever their shape; else a line is a row.
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

/* The first matrix is present and says the shape. */
static inline struct lines lines_of(const struct mat *m, int count)
{
    int64_t total = mat_size(m[0]);
    bool packed = true, wide = total % WIDE == 0;
    for (int i = 0; i < count; i++) {
        packed = packed && (!mat_present(m[i]) || m[i].rows == 1 || m[i].ld == m[i].cols);
        wide = wide && (uintptr_t)m[i].data % (WIDE * sizeof(float)) == 0;
    }
    if (!packed)
        return lines_by_row(m[0].rows, m[0].cols, width_of(m, count));
    int width = wide ? WIDE : 1;
    struct lines l = {blocks_of(total, LINE), LINE, total, width, lanes_for(LINE / width, BLOCK), true};
    return l;
}

/* The matrix, seen as these lines. */
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

/* A team takes a row of `cols` columns and holds `items` vectors a lane: a power of two, or 0 where the row
 * is too long to be held. */
struct row_teams {
    int64_t rows, cols;
    int width, lanes, items;
};

enum { ITEMS_MOST = 8 };

static inline struct row_teams row_teams_of(int64_t rows, int64_t cols, int width)
{
    struct row_teams t = {rows, cols, width, lanes_for(blocks_of(cols, width), WARP), 1};
    int64_t items = blocks_of(cols, (int64_t)t.lanes * width);
    t.items = items > ITEMS_MOST ? 0 : lanes_for(items, ITEMS_MOST);
    return t;
}

/* At most `most` blocks: those loop over the rows. */
static inline struct launch row_teams_launch(struct row_teams t, int64_t most)
{
    return launch_blocks(min_of(most, blocks_of(t.rows, BLOCK / t.lanes)), 1);
}

/*
 * Sums over the rows of a matrix, by column: `chunks` runs of `chunk` rows, `strips` runs of columns, a block
 * for each pair; in it, teams of `lanes` lanes take every (BLOCK / lanes)-th row. The cut follows from the
 * shape alone (and the width, which only moves columns between lanes), so the order of a column's sum is the
 * same on every device.
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

#endif
