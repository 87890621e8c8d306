/*
 * The number type of the loops of ref/. Each file of ref/ is compiled with three types:
 *
 *   REF_F32, REF_F64   float and double, as C
 *   REF_COUNT          an empty C++ class whose operators count FLOPs and do nothing else
 *
 * The counting type has no value, hence neither comparisons nor conversions: data-dependent control flow does
 * not compile with it, and compilers collapse loops that only count. An addition, subtraction,
 * multiplication, division and each function below counts 1, except r_log1p, an addition and a logarithm,
 * which counts 2; r_max, r_gate, r_match, r_choose, negation, and constants made by R() count 0. r_exp, r_erf
 * and r_tanh are counted by themselves too.
 *
 * Scalars computed once per call (a scale, a bias correction) are not counted: they are plain double, may use
 * <math.h>, and enter the loops through R().
 */
#ifndef GTMARK_KERNELS_REF_REAL_H
#define GTMARK_KERNELS_REF_REAL_H

#include <math.h>
#include <stdint.h>

#ifdef REF_COUNT

#define REF_TYPE count

struct real {
    static inline int64_t flops, exps;

    real() = default;
    explicit real(double)
    {
    }
    static real counted()
    {
        flops++;
        return real();
    }
    static real exponential()
    {
        exps++;
        return counted();
    }
    void operator+=(real)
    {
        flops++;
    }
};

static inline real operator+(real, real)
{
    return real::counted();
}

static inline real operator-(real, real)
{
    return real::counted();
}

static inline real operator*(real, real)
{
    return real::counted();
}

static inline real operator/(real, real)
{
    return real::counted();
}

static inline real operator-(real)
{
    return real();
}

static inline real r_exp(real)
{
    return real::exponential();
}

static inline real r_log(real)
{
    return real::counted();
}

static inline real r_log1p(real)
{
    real::counted();
    return real::counted();
}

static inline real r_sqrt(real)
{
    return real::counted();
}

static inline real r_erf(real)
{
    return real::exponential();
}

static inline real r_tanh(real)
{
    return real::exponential();
}

static inline real r_max(real, real)
{
    return real();
}

static inline real r_gate(real, real)
{
    return real();
}

static inline real r_match(real, real, real)
{
    return real();
}

static inline real r_choose(real, real, real)
{
    return real();
}

#define R(constant) real((double)(constant))

#else

#ifdef REF_F32
#define REF_TYPE   f32
#define LIBM(name) name##f
typedef float real;
#else
#define REF_TYPE   f64
#define LIBM(name) name
typedef double real;
#endif

static inline real r_exp(real x)
{
    return LIBM(exp)(x);
}

static inline real r_log(real x)
{
    return LIBM(log)(x);
}

static inline real r_log1p(real x)
{
    return LIBM(log1p)(x);
}

static inline real r_sqrt(real x)
{
    return LIBM(sqrt)(x);
}

static inline real r_erf(real x)
{
    return LIBM(erf)(x);
}

static inline real r_tanh(real x)
{
    return LIBM(tanh)(x);
}

/* NaN if one of them is. */
static inline real r_max(real x, real y)
{
    return x > y || x != x ? x : y;
}

/* y if x is positive, otherwise 0. */
static inline real r_gate(real x, real y)
{
    return x > 0 ? y : 0;
}

/* z if x equals y, otherwise 0. */
static inline real r_match(real x, real y, real z)
{
    return x == y ? z : 0;
}

/* y if x is positive, otherwise z. */
static inline real r_choose(real x, real y, real z)
{
    return x > 0 ? y : z;
}

#define R(constant) ((real)(constant))

#endif
#endif
