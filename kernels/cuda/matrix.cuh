/*
 * Access to matrices in kernels, f32 unless they say otherwise, with several consecutive entries as one load
 * or store. Kernels compute in float: entries in BF16 are widened when they are loaded, and rounded once, to
 * the nearest, when they are stored.
 */
#ifndef GTMARK_KERNELS_CUDA_MATRIX_CUH
#define GTMARK_KERNELS_CUDA_MATRIX_CUH

#include "kernels/cuda/mma.cuh"
#include "kernels/mat.h"

/* An entry of a matrix in BF16: the upper half of a float. */
struct bf16 {
    uint16_t bits;
};

/* f(zero), where zero has the type of a matrix's entries, F32 or BF16: for kernels over that type. */
template <class F> static auto by_type(enum dtype dtype, const F &f)
{
    return dtype == BF16 ? f(bf16{}) : f(0.0f);
}

/* Whether an optional operand is given: mat_present, on the device. */
static __device__ inline bool present(const struct mat &m)
{
    return m.rows > 0;
}

/* The address of entry (i, k). */
template <class T = float> static __device__ inline T *entry(struct mat m, int64_t i, int64_t k)
{
    return (T *)m.data + i * m.ld + k;
}

static __device__ inline double *double_entry(struct mat m, int64_t i, int64_t k)
{
    return (double *)m.data + i * m.ld + k;
}

/*
 * The same where a row, as of a node's features, has less than 2^31 entries: the product is one instruction
 * if the compiler sees that i has 32 bits too, as an end of an edge has.
 */
template <class T = float> static __device__ inline T *node_entry(struct mat m, int64_t i, int64_t k)
{
    return (T *)m.data + i * (int32_t)m.ld + k;
}

/* m_ik = value, or m_ik += value if m is accumulated. */
static __device__ inline void put(struct mat m, int64_t i, int64_t k, float value)
{
    float *at = entry(m, i, k);
    *at = m.acc ? *at + value : value;
}

/* V consecutive floats, aligned as a load of them is; the host chooses a suitable V (width_of). */
template <int V> struct alignas(V < 4 ? V * sizeof(float) : 16) vec {
    float at[V];
};

template <int V> __device__ inline vec<V> same(float x)
{
    vec<V> all;
#pragma unroll
    for (int v = 0; v < V; v++)
        all.at[v] = x;
    return all;
}

template <int V> __device__ inline vec<V> load(const float *from)
{
    return *(const vec<V> *)from;
}

/* V consecutive entries in BF16, aligned as a load of them is: words of two, the first in the lower half. */
template <int V> struct alignas(V * sizeof(bf16)) packed {
    uint32_t at[V / 2];
};

template <> struct packed<1> {
    bf16 at;
};

template <int V> __device__ inline vec<V> widened(vec<V> x)
{
    return x;
}

template <int V> __device__ inline vec<V> widened(packed<V> from)
{
    vec<V> x;
#pragma unroll
    for (int v = 0; v < V; v++)
        x.at[v] = __uint_as_float(v % 2 ? from.at[v / 2] & 0xffff0000 : from.at[v / 2] << 16);
    return x;
}

template <> __device__ inline vec<1> widened<1>(packed<1> from)
{
    return {{__uint_as_float((uint32_t)from.at.bits << 16)}};
}

/* Entries as they are stored. */
template <int V> __device__ inline vec<V> load_stored(const float *from)
{
    return load<V>(from);
}

template <int V> __device__ inline packed<V> load_stored(const bf16 *from)
{
    return *(const packed<V> *)from;
}

template <int V> __device__ inline vec<V> load(const bf16 *from)
{
    return widened(load_stored<V>(from));
}

/* To shared memory. */
template <int V> __device__ inline void store_shared(float *to, vec<V> x)
{
    *(vec<V> *)to = x;
}

/* To device memory. Not as the copy of a struct, which nvcc may divide into a store for each float. */
template <int V> __device__ inline void store(float *to, vec<V> x)
{
    if constexpr (V == 4)
        __stwb((float4 *)to, float4{x.at[0], x.at[1], x.at[2], x.at[3]});
    else if constexpr (V == 2)
        *(float2 *)to = float2{x.at[0], x.at[1]};
    else
        *to = x.at[0];
}

template <int V> __device__ inline void store(bf16 *to, vec<V> x)
{
    if constexpr (V == 8)
        __stwb((uint4 *)to, uint4{round_bf16(x.at[0], x.at[1]), round_bf16(x.at[2], x.at[3]),
                                  round_bf16(x.at[4], x.at[5]), round_bf16(x.at[6], x.at[7])});
    else if constexpr (V == 4)
        __stwb((uint2 *)to, uint2{round_bf16(x.at[0], x.at[1]), round_bf16(x.at[2], x.at[3])});
    else if constexpr (V == 2)
        *(uint32_t *)to = round_bf16(x.at[0], x.at[1]);
    else
        to->bits = (uint16_t)round_bf16(x.at[0], 0);
}

template <int V> __device__ inline vec<V> operator+(vec<V> a, vec<V> b)
{
#pragma unroll
    for (int v = 0; v < V; v++)
        a.at[v] += b.at[v];
    return a;
}

template <int V> __device__ inline vec<V> operator-(vec<V> a, vec<V> b)
{
#pragma unroll
    for (int v = 0; v < V; v++)
        a.at[v] -= b.at[v];
    return a;
}

template <int V> __device__ inline vec<V> operator*(vec<V> a, vec<V> b)
{
#pragma unroll
    for (int v = 0; v < V; v++)
        a.at[v] *= b.at[v];
    return a;
}

template <int V> __device__ inline vec<V> operator-(vec<V> a, float b)
{
    return a - same<V>(b);
}

template <int V> __device__ inline vec<V> operator*(vec<V> a, float b)
{
    return a * same<V>(b);
}

/* to (+)= x */
template <int V, class T> __device__ inline void put(T *to, bool acc, vec<V> x)
{
    store(to, acc ? load<V>(to) + x : x);
}

template <int V> __device__ inline float sum_of(vec<V> x)
{
    float sum = x.at[0];
#pragma unroll
    for (int v = 1; v < V; v++)
        sum += x.at[v];
    return sum;
}

#endif
