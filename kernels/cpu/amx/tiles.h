/*
 * Products of matrices in BF16 on AMX tiles (Intel, "Architecture Instruction Set Extensions"): eight
 * registers of 16 rows of 64 bytes. A step adds to 32 x 32 sums in F32, four tiles, the product of 32 x 32 of
 * A and of B.
 *
 * A tile of A has 16 rows of 32 elements along k; one of B has 16 rows, each the elements k and k + 1 of 16
 * columns in turn. Packed, the two tiles of a step follow one another, and then those of the next step; what
 * is beyond the edge of a matrix is zero. Numbers below the normal ones count as zero, as factors and as
 * sums.
 *
 * In assembly, since the intrinsics of gcc 12 do not say which memory they read.
 */
#ifndef GTMARK_KERNELS_CPU_AMX_TILES_H
#define GTMARK_KERNELS_CPU_AMX_TILES_H

#include "kernels/cpu/activation.h"
#include "kernels/cpu/cpu.h"

#include <immintrin.h>

enum { TILE = 16, SIDE = 2 * TILE, PAIR = SIDE * SIDE /* elements of the two tiles of a step */ };

#ifndef UNROLL
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#endif

/* Of a thread: from here on all tiles are whole; the end, so that the system need not save them any more. */
static inline void tiles_begin(void)
{
    struct {
        uint8_t palette, unused[15];
        uint16_t bytes[16];
        uint8_t rows[16];
    } tiles = {.palette = 1};
    for (int i = 0; i < 8; i++)
        tiles.bytes[i] = 64, tiles.rows[i] = TILE;
    __asm__ volatile("ldtilecfg %0" : : "m"(tiles));
}

static inline void tiles_end(void)
{
    __asm__ volatile("tilerelease");
}

/* 32 rows of A: the first element, and elements to the next row, to row 16 and to the next step. */
struct tiles {
    const uint16_t *at;
    int64_t row, half, step;
};

static inline struct tiles tiles_packed(const uint16_t *at)
{
    return (struct tiles){at, SIDE, PAIR / 2, PAIR};
}

/* The products of a step, with the loads of its tiles. */
#define TILES_STEP(upper, left, right, lower)                                                                \
    upper left "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t" right "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t" lower     \
               "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\ttdpbf16ps %%tmm7, %%tmm5, %%tmm3"

/* c = A B, of 32 x 32, or c += A B; b is packed. */
static inline void tiles_product(int64_t steps, struct tiles a, const uint16_t *b, float *c, int64_t ldc,
                                 bool acc)
{
    if (acc)
        __asm__ volatile("tileloadd (%0,%2), %%tmm0\n\ttileloadd 64(%0,%2), %%tmm1\n\t"
                         "tileloadd (%1,%2), %%tmm2\n\ttileloadd 64(%1,%2), %%tmm3"
                         :
                         : "r"(c), "r"(c + TILE * ldc), "r"(4 * ldc)
                         : "memory");
    else
        __asm__ volatile("tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3" : :);
    for (; steps > 0; steps--, a.at += a.step, b += PAIR)
        __asm__ volatile(TILES_STEP("tileloadd (%0,%2), %%tmm4\n\t", "tileloadd (%3,%4), %%tmm6\n\t",
                                    "tileloadd 1024(%3,%4), %%tmm7\n\t", "tileloadd (%1,%2), %%tmm5\n\t")
                         :
                         : "r"(a.at), "r"(a.at + a.half), "r"(2 * a.row), "r"(b), "r"((int64_t)64)
                         : "memory");
    __asm__ volatile("tilestored %%tmm0, (%0,%2)\n\ttilestored %%tmm1, 64(%0,%2)\n\t"
                     "tilestored %%tmm2, (%1,%2)\n\ttilestored %%tmm3, 64(%1,%2)"
                     :
                     : "r"(c), "r"(c + TILE * ldc), "r"(4 * ldc)
                     : "memory");
}

/* Row i and column k of a matrix in BF16. */
static inline uint16_t *bf16_at(struct mat m, int64_t i, int64_t k)
{
    return (uint16_t *)m.data + i * m.ld + k;
}

/* Up to 32 elements of row `i` of m from column k on; zeros beyond its edges. */
INLINE __m512i line_of(struct mat m, int64_t i, int64_t k)
{
    int64_t count = i < m.rows ? min_of(SIDE, m.cols - k) : 0;
    return count > 0 ? _mm512_maskz_loadu_epi16(UINT32_MAX >> (SIDE - count), bf16_at(m, i, k))
                     : _mm512_setzero_si512();
}

/* Two tiles, of 32 rows of m: a step of A = m. */
static inline void tiles_copy(struct mat m, int64_t i, int64_t k, uint16_t *to)
{
    for (int r = 0; r < SIDE; r++)
        _mm512_store_si512(to + r * SIDE, line_of(m, i + r, k));
}

/* Two tiles of pairs of rows of m: a step of B = m. */
static inline void tiles_pair(struct mat m, int64_t i, int64_t k, uint16_t *to)
{
    __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    UNROLL
    for (int r = 0; r < TILE; r++) {
        __m512i even = _mm512_permutexvar_epi64(order, line_of(m, i + 2 * r, k));
        __m512i odd = _mm512_permutexvar_epi64(order, line_of(m, i + 2 * r + 1, k));
        _mm512_store_si512(to + r * SIDE, _mm512_unpacklo_epi16(even, odd));
        _mm512_store_si512(to + PAIR / 2 + r * SIDE, _mm512_unpackhi_epi16(even, odd));
    }
}

/* A tile of pairs, transposed: of A = m' from a step of B = m, or of B = m' from A = m. */
static inline void tile_transpose(struct mat m, int64_t i, int64_t k, uint16_t *to)
{
    __m512i x[TILE], y[TILE];
    UNROLL
    for (int r = 0; r < TILE; r++)
        x[r] = line_of(m, i + r, k);
    UNROLL
    for (int r = 0; r < TILE; r += 2) {
        y[r] = _mm512_unpacklo_epi32(x[r], x[r + 1]);
        y[r + 1] = _mm512_unpackhi_epi32(x[r], x[r + 1]);
    }
    UNROLL
    for (int r = 0; r < TILE; r += 4) {
        x[r] = _mm512_unpacklo_epi64(y[r], y[r + 2]);
        x[r + 1] = _mm512_unpackhi_epi64(y[r], y[r + 2]);
        x[r + 2] = _mm512_unpacklo_epi64(y[r + 1], y[r + 3]);
        x[r + 3] = _mm512_unpackhi_epi64(y[r + 1], y[r + 3]);
    }
    UNROLL
    for (int r = 0; r < 4; r++)
        UNROLL
    for (int h = 0; h < TILE; h += 8) {
        y[r + h] = _mm512_shuffle_i32x4(x[r + h], x[r + h + 4], 0x88);
        y[r + h + 4] = _mm512_shuffle_i32x4(x[r + h], x[r + h + 4], 0xdd);
    }
    UNROLL
    for (int r = 0; r < 8; r++) {
        _mm512_store_si512(to + r * SIDE, _mm512_shuffle_i32x4(y[r], y[r + 8], 0x88));
        _mm512_store_si512(to + (r + 8) * SIDE, _mm512_shuffle_i32x4(y[r], y[r + 8], 0xdd));
    }
}

/* f of a block with so many columns, compiled for whole ones too; and for an activation, a constant there. */
#define BY_WIDTH(f, cols, ...) ((cols) == SIDE ? f(SIDE, __VA_ARGS__) : f(cols, __VA_ARGS__))
#define BY_ACTIVATION(f, act, cols, ...)                                                                     \
    ((act) == ACT_GELU        ? BY_WIDTH(f, cols, ACT_GELU, __VA_ARGS__)                                     \
     : (act) == ACT_GELU_TANH ? BY_WIDTH(f, cols, ACT_GELU_TANH, __VA_ARGS__)                                \
     : (act) == ACT_RELU      ? BY_WIDTH(f, cols, ACT_RELU, __VA_ARGS__)                                     \
                              : BY_WIDTH(f, cols, ACT_NONE, __VA_ARGS__))

#endif
