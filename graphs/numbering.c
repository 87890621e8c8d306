/*
 * A hash table of numbers with linear probing (Knuth, The Art of Computer Programming 3, 6.4, algorithm L),
 * at most half full. For large files each access misses the caches, so ids are looked up many at a time, and
 * their slots are prefetched before the first is read. The hash is the finaliser of the random numbers, a
 * bijection that spreads any regular set of ids.
 */
#include "graphs/numbering.h"

#include <stdlib.h>

#include "graphs/csr.h"
#include "graphs/radix.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"

enum {
    FIRST_SLOTS = 1 << 12,
    AHEAD = 16 /* slots that are prefetched at once */
};

/* The slot of id in the table, or the empty slot where it belongs. */
static int64_t find_slot(const struct numbering *n, uint64_t id)
{
    int64_t s = (int64_t)(rng_mix(id) & (uint64_t)(n->slots - 1));
    while (n->slot[s] && n->id[n->slot[s] - 1] != id)
        s = (s + 1) & (n->slots - 1);
    return s;
}

static void prefetch_slot(const struct numbering *n, uint64_t id)
{
    __builtin_prefetch(&n->slot[rng_mix(id) & (uint64_t)(n->slots - 1)]);
}

static bool grow(struct numbering *n)
{
    int64_t slots = n->slots ? 2 * n->slots : FIRST_SLOTS;
    uint32_t *slot = calloc((size_t)slots, sizeof *slot);
    uint64_t *id = reallocarray(n->id, (size_t)slots / 2, sizeof *id);
    if (id)
        n->id = id;
    if (!slot || !id) {
        free(slot);
        return false;
    }
    free(n->slot);
    n->slot = slot;
    n->slots = slots;
    for (int64_t i = 0; i < n->count; i++) {
        if (i + AHEAD < n->count)
            prefetch_slot(n, id[i + AHEAD]);
        slot[find_slot(n, id[i])] = (uint32_t)i + 1;
    }
    return true;
}

/* The number of id, in a table that has room for it. */
static int64_t number_of(struct numbering *n, uint64_t id)
{
    int64_t s = find_slot(n, id);
    if (!n->slot[s]) {
        n->id[n->count++] = id;
        n->slot[s] = (uint32_t)n->count;
    }
    return n->slot[s] - 1;
}

bool numbering_of(struct numbering *n, const uint64_t *id, int64_t *number, int count)
{
    while (2 * (n->count + count) > n->slots)
        if (n->count + count > CSR_MAX_NODES || !grow(n))
            return false;
    for (int i = 0; i < count; i++)
        prefetch_slot(n, id[i]);
    for (int i = 0; i < count; i++) {
        uint32_t slot = n->slot[rng_mix(id[i]) & (uint64_t)(n->slots - 1)];
        __builtin_prefetch(&n->id[slot ? slot - 1 : 0]);
    }
    for (int i = 0; i < count; i++)
        number[i] = number_of(n, id[i]);
    return true;
}

bool numbering_ranks(struct numbering *n, int32_t *rank, struct cancel cancel)
{
    uint64_t *sorted = reallocarray(NULL, (size_t)n->count, sizeof *sorted), bits = 0;
    if (!sorted)
        return false;
    for (int64_t i = 0; i < n->count; i++) {
        sorted[i] = n->id[i];
        bits |= n->id[i];
    }
    bool done = radix_sort(sorted, n->count, bits, cancel);
    if (done) {
#pragma omp parallel for
        for (int64_t r = 0; r < n->count; r++) {
            if (r + AHEAD < n->count)
                prefetch_slot(n, sorted[r + AHEAD]);
            rank[n->slot[find_slot(n, sorted[r])] - 1] = (int32_t)r;
        }
    }
    free(sorted);
    return done;
}

/* The table and the ids, and either the previous table while it grows, or two copies of the ids and the
 * ranks. */
int64_t numbering_bytes(const struct numbering *n)
{
    int64_t table = n->slots * 4 + n->slots / 2 * 8, growth = n->slots / 2 * 4, ranking = n->count * 20;
    return table + max_of(growth, ranking);
}

void numbering_free(struct numbering *n)
{
    free(n->id);
    free(n->slot);
    *n = (struct numbering){0};
}
