/*
 * A keyed bijection: a Feistel network over 2^k >= size indices, with cycle walking to restrict it to size
 * (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
 *
 * An index is two halves of floor(k / 2) and ceil(k / 2) bits. A round changes one half by a random function
 * of the other, which can be undone whatever that function is; rounds alternate between the halves, so halves
 * of different widths need no special treatment. If the result is outside of [0, size) the network is applied
 * again: as a bijection it would finally return to the start, so the walk reaches the domain. With the
 * smallest k the expected number of steps is at most two.
 *
 * Four rounds give a pseudorandom permutation of a large domain (Luby and Rackoff, SIAM J. Comput. 1988).
 * Halves of one or two bits have too few functions to mix well in a few rounds: a chi-square test over all
 * graphs of four nodes and two edges detects it even after twelve. Over at least 2^8 indices it detects
 * nothing after six.
 */
#include "graphs/permutation.h"

#include "kernels/rng.h"

enum { LEAST_BITS = 8 };

struct permutation permutation_make(uint64_t key, uint64_t size)
{
    struct permutation p = {.size = size};
    int bits = LEAST_BITS;
    while ((UINT64_C(1) << bits) < size)
        bits++;
    p.low_bits = bits - bits / 2;
    p.low_mask = (UINT64_C(1) << p.low_bits) - 1;
    p.high_mask = (UINT64_C(1) << (bits / 2)) - 1;
    for (int r = 0; r < PERMUTATION_ROUNDS; r++)
        p.round_key[r] = rng_bits(key, (uint64_t)r);
    return p;
}

static uint64_t feistel(const struct permutation *p, uint64_t index)
{
    uint64_t low = index & p->low_mask, high = index >> p->low_bits;
    for (int r = 0; r < PERMUTATION_ROUNDS; r += 2) {
        high ^= rng_bits(p->round_key[r], low) & p->high_mask;
        low ^= rng_bits(p->round_key[r + 1], high) & p->low_mask;
    }
    return high << p->low_bits | low;
}

uint64_t permutation_at(const struct permutation *p, uint64_t index)
{
    do
        index = feistel(p, index);
    while (index >= p->size);
    return index;
}
