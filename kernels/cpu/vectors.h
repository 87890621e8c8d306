/* Definitions for register tiles: vectors of LANES floats at any alignment, and unrolled loops. */
#ifndef GTMARK_KERNELS_CPU_VECTORS_H
#define GTMARK_KERNELS_CPU_VECTORS_H

#include "kernels/cpu/vector_math.h"

#define LANES VM_LANES

typedef vm_vec vec;
typedef vm_four vec4;

/* Precedes loops over the vectors of a register tile. With sanitizers, unrolling takes clang minutes. */
#ifndef __clang__
#define UNROLL _Pragma("GCC unroll 16")
#elif __has_feature(undefined_behavior_sanitizer)
#define UNROLL
#else
#define UNROLL _Pragma("clang loop unroll(full)")
#endif

INLINE vec load(const float *at)
{
    return *(const vec *)at;
}

INLINE void store(float *at, vec v)
{
    *(vec *)at = v;
}

INLINE vec4 load4(const float *at)
{
    return *(const vec4 *)at;
}

INLINE void store4(float *at, vec4 v)
{
    *(vec4 *)at = v;
}

#endif
