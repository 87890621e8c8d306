/* The functions of kernels/cuda/mma.cuh in kernels compiled from source. */
#ifndef GTMARK_TESTS_EMULATOR_MMA_H
#define GTMARK_TESTS_EMULATOR_MMA_H

#include "tests/emulator/matrices.h"

/* Where a kernel calls the function. */
#define HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], HERE)
{
    emulated_multiply(d, a, b, MATRIX_TF32, {file, line});
}

static inline void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], HERE)
{
    emulated_multiply(d, a, b, MATRIX_BF16, {file, line});
}

template <int N> static inline void load_matrices(uint32_t (&to)[N], const void *row, HERE)
{
    emulated_load(to, N, false, row, {file, line});
}

template <int N> static inline void load_transposed(uint32_t (&to)[N], const void *row, HERE)
{
    emulated_load(to, N, true, row, {file, line});
}

template <int BYTES> static inline void copy_async(void *to, const void *from, bool inside, HERE)
{
    emulated_copy(to, from, BYTES, inside ? BYTES : 0, {file, line});
}

static inline void copies_commit()
{
    copy_commit_group();
}

template <int LEFT> static inline void copies_wait(HERE)
{
    emulated_wait(LEFT, {file, line});
}

static inline uint32_t round_tf32(float x)
{
    return rounded_to_tf32(x);
}

static inline uint32_t in_place(uint32_t x)
{
    return x;
}

static inline uint32_t round_bf16(float first, float second)
{
    return rounded_to_bf16(second, first);
}

static inline float exp2_flushed(float x)
{
    float y = exp2f(x);
    return y < 0x1p-126f ? 0 : y;
}

#undef HERE

#endif
