/*
 * How the lanes of a team share the heads of attention over edges: plain C, planned on the host.
 *
 * A group of lanes, a power of two, processes one head: lane l holds entries (n group + l) width .. + width -
 * 1 of the head for n = 0 .. items - 1. A team has the groups of `per_tile` heads. A head that exceeds a
 * warp's registers is processed in `parts`, each of which recomputes the scores.
 */
#ifndef GTMARK_KERNELS_CUDA_HEADS_H
#define GTMARK_KERNELS_CUDA_HEADS_H

#include "kernels/cuda/plan.h"

struct heads {
    int count, size, parts; /* H, D / H */
    int width, items, group, per_tile;
};

/* Of a lane at most: vectors, and entries, so that its sums fit in registers; bytes of a load. */
enum { HEAD_ITEMS = 4, HEAD_ENTRIES = 16, LOAD_BYTES = 16 };

/* Entries of a load, at most. */
static inline int load_width(struct mat m)
{
    return LOAD_BYTES / (int)dtype_size(m.dtype);
}

/* The same if heads of this size are aligned to it in all of these matrices, otherwise 1. */
static inline int head_width(int64_t size, const struct mat *m, int count)
{
    int width = load_width(*m);
    bool aligned = size % width == 0;
    for (int i = 0; i < count; i++)
        aligned =
            aligned && (m[i].rows <= 1 || m[i].ld % width == 0) && (uintptr_t)m[i].data % LOAD_BYTES == 0;
    return aligned ? width : 1;
}

static inline struct heads heads_of(int64_t columns, int64_t count, int width)
{
    struct heads h;
    h.count = (int)count;
    h.size = (int)(columns / count);
    h.width = width;
    int64_t vectors = blocks_of(h.size, width);
    h.group = lanes_for(vectors, WARP);
    h.items = lanes_for(blocks_of(vectors, h.group), (int)min_of(HEAD_ITEMS, HEAD_ENTRIES / width));
    h.parts = (int)blocks_of(vectors, (int64_t)h.group * h.items);
    h.per_tile = (int)min_of(WARP / h.group, lanes_for(h.group == 1 ? max_of(2, count) : count, WARP));
    return h;
}

static inline int heads_lanes(struct heads h)
{
    return h.group * h.per_tile;
}

static inline int64_t heads_tiles(struct heads h)
{
    return blocks_of(h.count, h.per_tile) * h.parts;
}

/* A lane's head and its first entry in it; inactive if a tile has fewer heads than groups. */
struct head_place {
    int head, first;
    bool active;
};

GT_DEVICE static inline struct head_place head_place_of(struct heads h, int64_t tile, int lane)
{
    struct head_place p;
    p.head = (int)tile / h.parts * h.per_tile + lane / h.group;
    p.first = ((int)tile % h.parts * h.items * h.group + lane % h.group) * h.width;
    p.active = p.head < h.count;
    return p;
}

/* Offset of a lane's n-th vector in the head; valid if below h.size and the lane is active. */
GT_DEVICE static inline int head_entry(struct heads h, struct head_place p, int n)
{
    return p.first + n * h.group * h.width;
}

#endif
