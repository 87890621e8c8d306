/* Functions of instructions that compute each lane by itself, for the tables of ptx_operations.cc. */
#ifndef GTMARK_TESTS_EMULATOR_PTX_LANES_H
#define GTMARK_TESTS_EMULATOR_PTX_LANES_H

#include "tests/emulator/matrices.h"
#include "tests/emulator/ptx.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <utility>

namespace ptx
{
namespace
{
/* Applies F to the operands of each lane. */
template <class F, class To, class... From, size_t... n>
void each_lane(warp &w, const instruction &i, std::index_sequence<n...>)
{
    To out[LANES];
    for (int l = 0; l < LANES; l++)
        out[l] = (To)F()((From)lanes<From>(w, i.from[n])[l]...);
    put(w, i.to[0], out);
}

template <class F, class To, class... From> void run_each(warp &w, const instruction &i)
{
    each_lane<F, To, From...>(w, i, std::index_sequence_for<From...>());
}

template <class F, class To, class... From> constexpr operation each()
{
    return {run_each<F, To, From...>, {(int)sizeof(From)...}};
}

template <class F, class T> constexpr operation unary()
{
    return each<F, T, T>();
}

template <class F, class T> constexpr operation binary()
{
    return each<F, T, T, T>();
}

#define FUNCTION(name, expression, ...)                                                                      \
    struct name {                                                                                            \
        template <class T> T operator()(__VA_ARGS__) const                                                   \
        {                                                                                                    \
            return (T)(expression);                                                                          \
        }                                                                                                    \
    };

FUNCTION(same, a, T a)
FUNCTION(negative, -a, T a)
FUNCTION(inverse, ~a, T a)
FUNCTION(reciprocal, 1 / a, T a)
FUNCTION(absolute, std::fabs(a), T a)
FUNCTION(square_root, std::sqrt(a), T a)
FUNCTION(sum, a + b, T a, T b)
FUNCTION(difference, a - b, T a, T b)
FUNCTION(product, a *b, T a, T b)
FUNCTION(quotient, a / b, T a, T b)
FUNCTION(both, a &b, T a, T b)
FUNCTION(either, a | b, T a, T b)
FUNCTION(one_of, a ^ b, T a, T b)
FUNCTION(product_and_sum, a *b + c, T a, T b, T c)
FUNCTION(fused, std::fma(a, b, c), T a, T b, T c)
FUNCTION(shifted_left, b < sizeof(T) * 8 ? a << b : 0, T a, uint32_t b)
/* "Shift amounts greater than the register width N are clamped to N." */
FUNCTION(shifted_right, b < sizeof(T) * 8 ? a >> b : a < 0 ? -1 : 0, T a, uint32_t b)
/* "If one of the inputs is NaN, the result is the other", and -0 is less than +0. */
FUNCTION(less, a < b || b != b || (a == b && std::signbit((double)a)) ? a : b, T a, T b)
FUNCTION(greater, a > b || b != b || (a == b && !std::signbit((double)a)) ? a : b, T a, T b)
FUNCTION(signed_as, std::copysign(b, a), T a, T b)
/* 16-bit values have registers of 32. */
FUNCTION(lower_half, a & 0xffff, T a)
FUNCTION(short_product, (a & 0xffff) * (b & 0xffff), T a, T b)
FUNCTION(saturated, a > 0 ? a < 1 ? a : 1 : 0, T a)
FUNCTION(power_of_two, std::exp2(a), T a)
FUNCTION(whole, std::trunc(a), T a)

/* Subnormal inputs and results are zero. */
struct flushed_power_of_two {
    static float flush(float x)
    {
        return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
    }

    float operator()(float a) const
    {
        return flush(std::exp2(flush(a)));
    }
};

/* Of the upper half of the input, with the upper half of the result. */
struct approximate_reciprocal {
    double operator()(uint64_t a) const
    {
        double x, y;
        a &= ~(uint64_t)UINT32_MAX;
        memcpy(&x, &a, sizeof x);
        y = 1 / x;
        memcpy(&a, &y, sizeof a);
        a &= ~(uint64_t)UINT32_MAX;
        memcpy(&y, &a, sizeof y);
        return std::fabs(y) < 0x1p-1022 ? std::copysign(0.0, y) : y;
    }
};

/* Bits `b` to `b + c` of the second become the lowest of the first. */
struct inserted_bits {
    template <class T> T operator()(T a, T into, uint32_t from, uint32_t count) const
    {
        T mask = count < sizeof(T) * 8 ? ((T)1 << count) - 1 : ~(T)0;
        return from < sizeof(T) * 8 ? (into & ~(mask << from)) | (a & mask) << from : into;
    }
};

struct permuted_bytes {
    uint32_t operator()(uint32_t a, uint32_t b, uint32_t selected) const
    {
        uint64_t all = (uint64_t)b << 32 | a;
        uint32_t out = 0;
        for (int i = 0; i < 4; i++) {
            uint32_t which = selected >> 4 * i & 15, byte = (uint32_t)(all >> 8 * (which & 7)) & 255;
            out |= (which & 8 ? byte >> 7 ? 255 : 0 : byte) << 8 * i;
        }
        return out;
    }
};

/* "In float-to-integer conversion, NaN inputs are converted to 0"; others are clamped. */
struct to_unsigned_64 {
    uint64_t operator()(double a) const
    {
        return !(a > 0) ? 0 : a >= 0x1p64 ? UINT64_MAX : (uint64_t)a;
    }
};

struct to_tf32 {
    uint32_t operator()(float a) const
    {
        return rounded_to_tf32(a);
    }
};

struct to_bf16 {
    uint32_t operator()(float upper, float lower) const
    {
        return rounded_to_bf16(upper, lower);
    }
};

/* Copies, so that it is a loop over vectors. */
void run_fused(warp &w, const instruction &i)
{
    alignas(64) float in[3][LANES], out[LANES];
    for (int n = 0; n < 3; n++)
        memcpy(in[n], w.registers[(size_t)i.from[n]].bytes, sizeof in[n]);
    for (int l = 0; l < LANES; l++)
        out[l] = __builtin_fmaf(in[0][l], in[1][l], in[2][l]);
    put(w, i.to[0], out);
}

void run_fused_downward(warp &w, const instruction &i)
{
    fesetround(FE_DOWNWARD);
    run_fused(w, i);
    fesetround(FE_TONEAREST);
}

/* Integers divided by zero are a fault; the least by -1 is itself. */
template <class T, bool rest> void run_division(warp &w, const instruction &i)
{
    auto *a = lanes<T>(w, i.from[0]), *b = lanes<T>(w, i.from[1]);
    T out[LANES];
    for (int l = 0; l < LANES; l++) {
        T by = w.active >> l & 1 ? b[l] : 1;
        if (by == 0)
            fail_lane(w, i, l, "divides by zero");
        if (by == (T)-1 && (T)-1 < 0)
            out[l] = rest ? 0 : (T)(0 - (uint64_t)a[l]);
        else
            out[l] = rest ? a[l] % by : a[l] / by;
    }
    put(w, i.to[0], out);
}

template <class T, bool rest> constexpr operation division()
{
    return {run_division<T, rest>, {sizeof(T), sizeof(T)}};
}

void put_predicate(warp &w, const instruction &i, uint32_t value)
{
    uint32_t &to = predicate(w, i.to[0]);
    to = (to & ~w.active) | (value & w.active);
}

template <class F> void run_logic(warp &w, const instruction &i)
{
    put_predicate(w, i, F()(predicate(w, i.from[0]), predicate(w, i.from[i.reads - 1])));
}

struct not_second {
    uint32_t operator()(uint32_t, uint32_t a) const
    {
        return ~a;
    }
};

struct second {
    uint32_t operator()(uint32_t, uint32_t a) const
    {
        return a;
    }
};

template <class T> void run_selection(warp &w, const instruction &i)
{
    auto *a = lanes<T>(w, i.from[0]), *b = lanes<T>(w, i.from[1]);
    uint32_t first = predicate(w, i.from[2]);
    T out[LANES];
    for (int l = 0; l < LANES; l++)
        out[l] = first >> l & 1 ? a[l] : b[l];
    put(w, i.to[0], out);
}

template <class T> constexpr operation selection()
{
    return {run_selection<T>, {sizeof(T), sizeof(T), sizeof(uint32_t)}};
}

template <class F, class T> void run_comparison(warp &w, const instruction &i)
{
    auto *a = lanes<T>(w, i.from[0]), *b = lanes<T>(w, i.from[1]);
    uint32_t out = 0;
    for (int l = 0; l < LANES; l++)
        out |= (uint32_t)F()((T)a[l], (T)b[l]) << l;
    put_predicate(w, i, out);
}

/* 16-bit values have registers of 32. */
template <class F> void run_short_comparison(warp &w, const instruction &i)
{
    auto *a = lanes<int32_t>(w, i.from[0]), *b = lanes<int32_t>(w, i.from[1]);
    uint32_t out = 0;
    for (int l = 0; l < LANES; l++)
        out |= (uint32_t)F()((int16_t)a[l], (int16_t)b[l]) << l;
    put_predicate(w, i, out);
}

#define COMPARISON(name, expression)                                                                         \
    struct name {                                                                                            \
        template <class T> bool operator()(T a, T b) const                                                   \
        {                                                                                                    \
            return expression;                                                                               \
        }                                                                                                    \
    };

COMPARISON(eq, a == b)
COMPARISON(ne, a<b || a> b)
COMPARISON(lt, a < b)
COMPARISON(le, a <= b)
COMPARISON(gt, a > b)
COMPARISON(ge, a >= b)
COMPARISON(both_numbers, a <= b || a >= b)
/* These hold if one is NaN, too. */
COMPARISON(equ, !(a < b || a > b))
COMPARISON(neu, a != b)
COMPARISON(ltu, !(a >= b))
COMPARISON(leu, !(a > b))
COMPARISON(gtu, !(a <= b))
COMPARISON(geu, !(a < b))
COMPARISON(either_nan, !(a <= b || a >= b))

struct high {
    template <class T> T operator()(T a, T b) const
    {
        return (T)(((std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>)a * b) >> 32);
    }
};

/* Of 4 bytes to 8. */
struct wide_product {
    template <class T> auto operator()(T a, T b) const
    {
        return (std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>)a * b;
    }
};
} // namespace
} // namespace ptx

#endif
