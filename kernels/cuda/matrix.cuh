/* Access to f32 matrices in kernels, with several consecutive entries as one load or store. */
#ifndef GTMARK_KERNELS_CUDA_MATRIX_CUH
#define GTMARK_KERNELS_CUDA_MATRIX_CUH

#include "kernels/mat.h"

/* The address of entry (i, k). */
__device__ static inline float *entry(struct mat m, int64_t i, int64_t k)
{
    return (float *)m.data + i * m.ld + k;
}

/* m_ik = value, or m_ik += value if m is accumulated. */
__device__ static inline void put(struct mat m, int64_t i, int64_t k, float value)
{
    float *at = entry(m, i, k);
    *at = m.acc ? *at + value : value;
}

/* WIDTH consecutive floats, aligned as a whole; the host chooses a suitable width (launch_width). */
template <int WIDTH> struct alignas(WIDTH * sizeof(float)) vec {
    float at[WIDTH];
};

template <int WIDTH> __device__ static inline vec<WIDTH> load(const float *from)
{
    return *(const vec<WIDTH> *)from;
}

template <int WIDTH> __device__ static inline void store(float *to, vec<WIDTH> v)
{
    *(vec<WIDTH> *)to = v;
}

#endif
