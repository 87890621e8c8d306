/*
 * What kernels did that were executed from PTX, counted: on the emulated device, by the library for it
 * (dlsym). Instructions are those of PTX; what ptxas makes of them is not known, nor how long they take.
 */
#ifndef GTMARK_TESTS_EMULATOR_COUNTERS_H
#define GTMARK_TESTS_EMULATOR_COUNTERS_H

#include <stdint.h>

struct kernel_counters {
    const char *name;     /* as the compiler of the PTX mangled it; valid until the next call */
    int threads;          /* of a block */
    int shared;           /* bytes, static */
    int64_t instructions; /* of warps */
    int64_t lanes;        /* active in these, in all */
    int64_t flops;    /* of lanes: fma 2; add, sub, mul, div, rcp, sqrt and ex2 1; mma a share of its own */
    int64_t wide;     /* instructions that compute with 64-bit integers */
    int64_t products; /* instructions that multiply matrices */
    /* Of requests to device memory: sectors of 32 bytes, and the fewest that hold as many bytes. */
    int64_t sectors, fewest;
    /* Of requests to shared memory: passes over its 32 banks, and those without bank conflicts. */
    int64_t passes, least;
};

/*
 * Writes at most `most` kernels, in order of their names, that ran since the last call on the calling
 * thread's devices; returns how many. The first call begins to count.
 */
#ifdef __cplusplus
extern "C"
#endif
    int
    emulated_counters(struct kernel_counters *list, int most);

#endif
