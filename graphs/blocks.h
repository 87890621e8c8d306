/* Loops over edges or nodes in blocks, between which building may be cancelled. */
#ifndef GTMARK_GRAPHS_BLOCKS_H
#define GTMARK_GRAPHS_BLOCKS_H

#include "kernels/arithmetic.h"
#include "kernels/cancel.h"

enum { GRAPH_BLOCK = 1 << 22, PARALLEL_FROM = 4096 /* from which starting threads pays off */ };

struct graph_block {
    int64_t first, end;
};

/* Moves on to the next block of [0, count); the one before the first is {0}. False: all done, or cancelled.
 */
static inline bool graph_block_next(struct graph_block *b, int64_t count, struct cancel cancel)
{
    b->first = b->end;
    b->end = min_of(count, b->first + GRAPH_BLOCK);
    return b->first < count && !is_cancelled(cancel);
}

#endif
