/*
 * A pseudorandom bijection of [0, size) onto itself that can be evaluated at any point: its first m values
 * are m distinct numbers, so threads can draw without replacement independently of one another.
 */
#ifndef GTMARK_GRAPHS_PERMUTATION_H
#define GTMARK_GRAPHS_PERMUTATION_H

#include <stdint.h>

enum { PERMUTATION_ROUNDS = 8 };

struct permutation {
    uint64_t size;                          /* of the domain */
    int low_bits;                           /* width of the low half of an index */
    uint64_t low_mask, high_mask;           /* values that each half can take */
    uint64_t round_key[PERMUTATION_ROUNDS]; /* one random stream per round */
};

/* The permutation of [0, size) for `key`; size is 1 to 2^62. */
struct permutation permutation_make(uint64_t key, uint64_t size);

/* The image of index, which is below size. */
uint64_t permutation_at(const struct permutation *p, uint64_t index);

#endif
