/*
 * Division of edges into equal shares, independent of degrees: plain arithmetic on row pointers.
 *
 * The work of a graph is a list of items: for each row, its edges followed by its end. Row r's items begin at
 * number at[r] + r (`at` holds rows + 1 ascending bounds with stride `ld`), and there are rows + edges in
 * total. Share t has items t size .. (t + 1) size - 1, found by binary search, as in merge-based SpMV
 * (Merrill and Garland 2016). A row of at most `size` edges is processed entirely by the share in which it
 * begins, so a share has at most twice its size of work. A longer row is split at share boundaries: a last
 * part in the share in which it begins, then one first part in each further share up to the one with its end.
 */
#ifndef GTMARK_KERNELS_CUDA_SPLIT_H
#define GTMARK_KERNELS_CUDA_SPLIT_H

#include "kernels/arithmetic.h"

#include <stdbool.h>

struct split {
    int64_t rows, items, size, count; /* count shares of size items */
};

enum {
    SHARE_MIN = 16, /* items that make searching for a share worthwhile */
    SHARE_ROWS = 4, /* average rows per share, so that few rows are split, */
    SHARE_FILL = 8, /* provided a SHARE_FILL-th of the wanted shares remains */
};

/* At most about `wanted` shares. */
static inline struct split split_of(int64_t rows, int64_t edges, int64_t wanted)
{
    struct split s = {rows, rows + edges, 0, 0};
    int64_t whole =
        min_of(SHARE_ROWS * blocks_of(s.items, rows), blocks_of(s.items, blocks_of(wanted, SHARE_FILL)));
    s.size = max_of(max_of(SHARE_MIN, whole), blocks_of(s.items, max_of(1, wanted)));
    s.count = blocks_of(s.items, s.size);
    return s;
}

/* The row that an item belongs to. */
GT_DEVICE static inline int64_t row_of_item(const int64_t *at, int64_t ld, int64_t rows, int64_t item)
{
    int64_t low = 0, high = rows;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (at[middle * ld] + middle <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

GT_DEVICE static inline int64_t share_first(struct split s, int64_t share)
{
    return share * s.size;
}

GT_DEVICE static inline int64_t share_end(struct split s, int64_t share)
{
    return min_of(s.items, (share + 1) * s.size);
}

/* The part of a row that a share processes. */
enum piece_kind { PIECE_NONE, PIECE_WHOLE, PIECE_FIRST, PIECE_LAST };

struct piece {
    enum piece_kind kind; /* first or last within its share, if the row is split */
    int64_t first, end;   /* edges */
};

/* For row r with edges begin .. end - 1. */
GT_DEVICE static inline struct piece piece_of(struct split s, int64_t share, int64_t r, int64_t begin,
                                              int64_t end)
{
    int64_t first = share_first(s, share);
    bool begins = begin + r >= first;
    struct piece p = {begins ? PIECE_WHOLE : PIECE_NONE, begin, end};
    if (end - begin <= s.size)
        return p;
    p.kind = begins ? PIECE_LAST : PIECE_FIRST;
    p.first = max_of(begin, first - r);
    p.end = min_of(end, share_end(s, share) - r);
    return p;
}

/* Whether a row may be split, if none has more than `most` edges; 0: not known. */
static inline bool has_cut_rows(struct split s, int64_t most)
{
    return most == 0 || most > s.size;
}

/* The share with the end of row r, whose edges end at `end`. */
GT_DEVICE static inline int64_t share_of_end(struct split s, int64_t r, int64_t end)
{
    return (end + r) / s.size;
}

/* Index of a split row's partial sum: two slots per share. */
GT_DEVICE static inline int64_t piece_slot(int64_t share, enum piece_kind kind)
{
    return 2 * share + (kind == PIECE_LAST);
}

#endif
