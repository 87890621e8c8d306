/*
 * Microbenchmarks for the ceilings.
 *
 * Arithmetic runs in CHAINS chains of vectors, more than latency times issue width of today's cores (at most
 * 4 cycles times 4 pipes), and as many as the registers hold beside the operands. If the instruction set has
 * no fused multiply-add, half of the chains multiply and half add, so that both kinds of units are busy.
 *
 * A step is x a + b with a = -(1 - 2^-24): the values change sign at every step, so that the bits toggle as
 * in real work (constant data draws less power and may clock higher), yet they neither grow nor vanish. The
 * fused multiply-add of aarch64 has its sum in the place of its addend, so that x a + b needs two moves more.
 * There a step is x + a b: it grows until the chains are restarted, to 7e5 at most, and its bits change, too.
 */
#include "kernels/peak.h"

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/unaligned.h"

#if defined(__AVX512F__)
#define LANES  16
#define CHAINS 24
#elif defined(__AVX__)
#define LANES  8
#define CHAINS 12
#elif defined(__aarch64__)
#define LANES  4
#define CHAINS 24
#else
#define LANES  4
#define CHAINS 14
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
enum { FUSED = 1 };
#else
enum { FUSED = 0 };
#endif

UNALIGNED_VECTOR(vec, float, 4 * LANES);

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* Repetitions after which the chains are restarted, long before they could vanish. */
enum { RESTART = 1 << 20, SUMS = 8 };

static float total(int count, const vec *v)
{
    float sum = 0;
    for (int i = 0; i < count; i++)
        for (int lane = 0; lane < LANES; lane++)
            sum += v[i][lane];
    return sum;
}

/* A step of the i-th chain. */
INLINE vec step(vec x, vec a, vec b, int i)
{
    if (!FUSED)
        return i % 2 ? x * a : x + b;
#ifdef __aarch64__ /* in C, a compiler would multiply only once, before the loop */
    __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(x) : "w"(a), "w"(b));
    return x;
#else
    return x * a + b;
#endif
}

static float run_chains(int64_t repetitions, float factor, float addend)
{
    vec x[CHAINS], a = factor - (vec){0}, b = addend - (vec){0}, first;
    for (int lane = 0; lane < LANES; lane++)
        first[lane] = 1.0f + 0.01f * (float)lane;
    UNROLL
    for (int i = 0; i < CHAINS; i++)
        x[i] = first + 0.1f * (float)i;
    for (int64_t r = 0; r < repetitions; r++) {
        UNROLL
        for (int i = 0; i < CHAINS; i++)
            x[i] = step(x[i], a, b, i);
    }
    return total(CHAINS, x);
}

static float multiply_add(int64_t repetitions)
{
    volatile float factor = -0x1.fffffep-1f, addend = 0.7f; /* unknown to the compiler */
    float sum = 0;
    for (; repetitions > 0; repetitions -= RESTART)
        sum += run_chains(min_of(repetitions, RESTART), factor, addend);
    return sum;
}

static float read_all(int64_t n, const float *x)
{
    vec sum[SUMS] = {0};
    int64_t i = 0;
    for (; i + SUMS * LANES <= n; i += SUMS * LANES) {
        UNROLL
        for (int k = 0; k < SUMS; k++)
            sum[k] += *(const vec *)(x + i + k * LANES);
    }
    float rest = 0;
    for (; i < n; i++)
        rest += x[i];
    return rest + total(SUMS, sum);
}

static void write_all(int64_t n, float *x, float value)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        x[i] = value;
}

static void update(int64_t n, float *x, float factor)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        x[i] = 1 + factor * x[i];
}

static void triad(int64_t n, float *restrict x, const float *restrict y, const float *restrict z, float s)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        x[i] = y[i] + s * z[i];
}

#ifdef __AMX_BF16__
#include "kernels/cpu/amx/tiles.h"

/* Four products of tiles at a time, whose sums are in four others. */
static float products(int64_t repetitions)
{
    _Alignas(64) uint16_t factors[PAIR];
    _Alignas(64) float sums[PAIR];
    for (int i = 0; i < PAIR; i++)
        factors[i] = bf16_of_float((float)(i % 7 - 3) + 0.1f);
    tiles_begin();
    tiles_product(1, tiles_packed(factors), factors, sums, SIDE, false);
    for (int64_t r = 0; r < repetitions; r++)
        __asm__ volatile(TILES_STEP("", "", "", "") : :);
    __asm__ volatile("tilestored %%tmm0, (%0,%1)" : : "r"(sums), "r"((int64_t)64) : "memory");
    tiles_end();
    return sums[0];
}
#endif

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

const struct peak CPU(peak) = {
    .isa = TEXT(ISA),
    .flops = CHAINS * LANES * (FUSED ? 2 : 1),
    .multiply_add = multiply_add,
    .read = read_all,
    .write = write_all,
    .update = update,
    .triad = triad,
#ifdef __AMX_BF16__
    .products = products,
    .product_flops = 2 * SIDE * PAIR,
#endif
};
