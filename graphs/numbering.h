/*
 * Numbers for arbitrary 64-bit ids: first in the order in which they were met, in the end in the order of the
 * ids.
 */
#ifndef GTMARK_GRAPHS_NUMBERING_H
#define GTMARK_GRAPHS_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

/* Begins as {0}. */
struct numbering {
    int64_t count;  /* ids met: they have the numbers 0 .. count - 1 */
    uint64_t *id;   /* by number */
    uint32_t *slot; /* hash table: number + 1, or 0 */
    int64_t slots;  /* a power of two, and at least twice as many as ids fit */
};

/*
 * Sets number[i] to the number of id[i], new ids getting the next ones in order. Fastest for some hundred ids
 * at a time. False without memory or where there might be more than CSR_MAX_NODES numbers.
 */
bool numbering_of(struct numbering *n, const uint64_t *id, int64_t *number, int count);

/* rank[i] is how many ids are below that of number i. Without memory: false.
 */
bool numbering_ranks(struct numbering *n, int32_t *rank);

/* Bytes that the table took at its peak; ranks, which the caller holds, included. */
int64_t numbering_bytes(const struct numbering *n);

void numbering_free(struct numbering *n);

#endif
