/*
 * Numbers for arbitrary 64-bit ids: first in the order of appearance, at the end in the order of the ids.
 */
#ifndef GTMARK_GRAPHS_NUMBERING_H
#define GTMARK_GRAPHS_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cancel.h"

/* Initialise with {0}. */
struct numbering {
    int64_t count;  /* ids so far: they have the numbers 0 .. count - 1 */
    uint64_t *id;   /* by number */
    uint32_t *slot; /* hash table: number + 1, or 0 */
    int64_t slots;  /* a power of two, at least twice the number of ids that fit */
};

/*
 * Sets number[i] to the number of id[i]; new ids get the next numbers in order. Fastest for some hundred ids
 * at a time. False without memory or if there could be more than CSR_MAX_NODES numbers.
 */
bool numbering_of(struct numbering *n, const uint64_t *id, int64_t *number, int count);

/* Sets rank[i] to how many ids are smaller than that of number i. False without memory, or cancelled. */
bool numbering_ranks(struct numbering *n, int32_t *rank, struct cancel cancel);

/* Peak bytes of the table, including the ranks, which the caller holds. */
int64_t numbering_bytes(const struct numbering *n);

void numbering_free(struct numbering *n);

#endif
