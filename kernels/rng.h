/*
 * Counter-based random numbers: the value at (key, counter) is a pure function of both, so a matrix can be
 * filled in any order, by any number of threads, on any device, with the same bits.
 *
 * The mixer is the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014); counter i of stream `key` is state key + (i + 1) * golden gamma of that
 * generator.
 */
#ifndef GTMARK_KERNELS_RNG_H
#define GTMARK_KERNELS_RNG_H

#include "kernels/arithmetic.h"

GT_DEVICE static inline uint64_t rng_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 64 random bits at position `counter` of the stream `key`. */
GT_DEVICE static inline uint64_t rng_bits(uint64_t key, uint64_t counter)
{
    return rng_mix(key + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/*
 * 32 random bits at a position of the stream: positions 2 n and 2 n + 1 are the lower and the upper half of
 * rng_bits(key, n), so one mixing serves two.
 */
GT_DEVICE static inline uint32_t rng_half(uint64_t key, uint64_t position)
{
    return (uint32_t)(rng_bits(key, position >> 1) >> (position & 1 ? 32 : 0));
}

/* The stream from position `first` on, as a stream of its own. */
GT_DEVICE static inline uint64_t rng_from(uint64_t key, uint64_t first)
{
    return key + first * UINT64_C(0x9e3779b97f4a7c15);
}

/* The stream of a name under a seed: FNV-1a over the name's bytes (Fowler, Noll, Vo), mixed with the seed. */
static inline uint64_t rng_key(uint64_t seed, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return rng_mix(hash ^ rng_mix(seed));
}

/*
 * A signed 24-bit integer in [-2^23, 2^23), uniform. It is exact in float and double; one multiplication by
 * bound * 2^-23 makes it uniform on [-bound, bound) with a single rounding, hence the same bits everywhere.
 */
GT_DEVICE static inline int32_t rng_int24(uint64_t key, uint64_t counter)
{
    return (int32_t)(rng_bits(key, counter) >> 40) - (1 << 23);
}

#endif
