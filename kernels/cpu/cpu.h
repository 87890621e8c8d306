/*
 * Shared by the files of kernels/cpu. They are compiled once per instruction set, which ISA names, so every
 * symbol with external linkage is declared through CPU(name), and headers contain only static functions: a
 * function that the linker merged across instruction sets could run on a processor without its own.
 *
 * Results never depend on call.threads: sums are divided into parts by shape alone, and these are added in
 * order. Each kernel has a function that returns its scratch size; per-thread scratch follows the shared
 * part, THREAD_GAP apart.
 */
#ifndef GTMARK_KERNELS_CPU_CPU_H
#define GTMARK_KERNELS_CPU_CPU_H

#include "kernels/arithmetic.h"
#include "kernels/backend.h"

#define CPU_PASTE(isa, name)  cpu_##isa##_##name
#define CPU_EXPAND(isa, name) CPU_PASTE(isa, name)
#define CPU(name)             CPU_EXPAND(ISA, name)

#define INLINE static inline __attribute__((always_inline))

extern const struct backend CPU(backend);

/* The kernel of each op, and its scratch bytes if it needs any; not every op has either. */
#define OP(name, doc)                                                                                        \
    void CPU(name)(const void *args);                                                                        \
    int64_t CPU(name##_scratch)(const void *args);
#include "kernels/ops_list.h"

/* Variants: products by CBLAS. */
void CPU(linear_blas)(const void *args);
void CPU(linear_backward_blas)(const void *args);
int64_t CPU(linear_backward_blas_scratch)(const void *args);

/* Variants: two linear layers, which keep the hidden panel. */
void CPU(mlp_steps)(const void *args);
void CPU(mlp_backward_steps)(const void *args);
int64_t CPU(mlp_steps_scratch)(const void *args);
int64_t CPU(mlp_backward_steps_scratch)(const void *args);

/* Bytes of `count` floats, padded so that the next part begins on its own cache line. */
static inline int64_t float_bytes(int64_t count)
{
    return round_up(count * 4, 64);
}

/* A part of the scratch buffer: where to store its address, and its size in floats. */
struct scratch_part {
    float **at;
    int64_t floats;
};

/*
 * Lays out the parts one after another, aligned to cache lines, and returns the total number of floats;
 * without scratch the addresses are null.
 */
static inline int64_t scratch_lay_out(float *scratch, const struct scratch_part *parts, size_t count)
{
    int64_t size = 0;
    for (size_t i = 0; i < count; i++) {
        *parts[i].at = scratch ? scratch + size : NULL;
        size += float_bytes(parts[i].floats) / 4;
    }
    return size;
}

#define SCRATCH(scratch, parts) scratch_lay_out(scratch, parts, sizeof(parts) / sizeof *(parts))

/*
 * Bytes left unused between the scratch of two threads. Prefetchers run tens of KiB ahead of strided
 * accesses; without the gap they take lines from the core that writes them.
 */
enum { THREAD_GAP = 65536 };

/* The first element of row i; null for an absent matrix. */
static inline float *row_of(struct mat m, int64_t i)
{
    return m.data ? (float *)m.data + i * m.ld : NULL;
}

/* The same of a matrix of doubles. */
static inline double *doubles_of(struct mat m, int64_t i)
{
    return m.data ? (double *)m.data + i * m.ld : NULL;
}

/* to (+)= the sum of `count` accumulators of n floats each, `stride` apart, added in order. */
static inline void add_accumulators(int64_t n, float *restrict to, bool acc, const float *restrict from,
                                    int64_t count, int64_t stride)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++)
        to[k] = (acc ? to[k] : 0) + from[k];
    for (int64_t c = 1; c < count; c++) {
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            to[k] += from[c * stride + k];
    }
}

/*
 * Rows are shared out in the same way in every op whose results do not depend on it, so that they stay in the
 * caches of one core: writing a line that two cores have read takes several times as long as other accesses.
 * Shares 0 .. row_shares - 1, of at least 32 rows unless there are fewer, begin at row_share.
 */
static inline int64_t row_shares(int64_t n, int64_t threads)
{
    return max_of(1, min_of(threads, n / 32));
}

static inline int64_t row_share(int64_t n, int64_t share, int64_t shares)
{
    return min_of(n, round_up(n * share / shares, 4));
}

/*
 * The number of threads worth using for `work` units, if processing `grain` units takes one thread a few
 * times the cost of a fork; all if the call asks for them.
 */
static inline int threads_for(const struct call *c, int64_t work, int64_t grain)
{
    return c->eager ? c->threads : (int)max_of(1, min_of(c->threads, work / grain));
}

#endif
