/*
 * Counter-based uniform random numbers with the same bits as ref/uniform.c: an entry is a function of the key
 * and its number i M + k, so every thread generates its own.
 *
 *   uniform        y_ik = n(key, i M + k) scale, n a 24-bit integer, scale = bound 2^-23 rounded to float
 *   uniform_index  y_ik = first + floor(u(key, i M + k) limit 2^-32), u a 32-bit integer
 *
 * n is exact in float and the product is rounded once; no addition follows that could be fused with it.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/rng.h"

namespace
{
template <class T> struct uniform_entries {
    struct mat y;
    int64_t cols; /* of a line: packed or not, entry (i, k) of the lines has number i cols + k */
    uint64_t key;
    float scale;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> numbers;
#pragma unroll
        for (int v = 0; v < V; v++)
            numbers.at[v] = (float)rng_int24(key, (uint64_t)(i * cols + k + v)) * scale;
        store(entry<T>(y, i, k), numbers);
    }
};

/* One entry at a time: V is 1. */
struct uniform_index_entries {
    struct mat y;
    int64_t cols;
    uint64_t key, limit;
    int64_t first;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        uint64_t bits = rng_bits(key, (uint64_t)(i * cols + k)) >> 32;
        ((int64_t *)y.data)[i * y.ld + k] = first + (int64_t)(bits * limit >> 32);
    }
};
} // namespace

extern "C" void cuda_uniform(const void *args)
{
    const struct uniform_args *a = (const struct uniform_args *)args;
    struct lines l = lines_of(&a->y, 1);
    CUDA_CHECK(a->call, run_entries<uniform_entries>(a->call, a->y.dtype, l, lines_view(l, a->y), l.cols,
                                                     a->key, (float)(a->bound * 0x1p-23)));
}

extern "C" void cuda_uniform_index(const void *args)
{
    const struct uniform_index_args *a = (const struct uniform_index_args *)args;
    struct lines l = lines_by_row(a->y.rows, a->y.cols, 1);
    const uniform_index_entries f = {a->y, l.cols, a->key, (uint64_t)a->limit, a->first};
    CUDA_CHECK(a->call, run(a->call, lines_launch(l), each_entry<1, uniform_index_entries>, l, f));
}
