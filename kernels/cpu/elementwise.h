/*
 * Division of elementwise work into serial pieces: runs of PIECE elements if all operands are contiguous
 * (leading dimension = columns) and rows are short or a single one, otherwise rows.
 */
#ifndef GTMARK_KERNELS_CPU_ELEMENTWISE_H
#define GTMARK_KERNELS_CPU_ELEMENTWISE_H

#include "kernels/cpu/cpu.h"

enum {
    PIECE = 4096,   /* elements */
    GRAIN = 1 << 11 /* elements per thread that justify a fork */
};

struct pieces {
    int64_t count, size, total;
    bool whole; /* contiguous */
};

static inline struct pieces pieces_of(int64_t rows, int64_t cols, const struct mat *operands, int count)
{
    bool whole = rows == 1 || cols < 32;
    for (int i = 0; i < count; i++)
        whole = whole && (operands[i].ld == cols || rows == 1);
    int64_t size = whole ? PIECE : cols, total = rows * cols;
    return (struct pieces){blocks_of(total, size), size, total, whole};
}

static inline float *piece(struct pieces p, struct mat m, int64_t i)
{
    return (float *)m.data + i * (p.whole ? p.size : m.ld);
}

static inline int64_t piece_size(struct pieces p, int64_t i)
{
    return min_of(p.size, p.total - i * p.size);
}

#endif
