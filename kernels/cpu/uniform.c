/*
 * Counter-based uniform random numbers: reals on [-bound, bound), and integers below a limit.
 *
 *   uniform        y_ik = n(key, i M + k) scale, n a 24-bit integer (rng.h), scale = bound 2^-23: a single
 *                  rounding, so every machine gets the same bits
 *   uniform_index  y_ik = first + u(key, i M + k) limit 2^-32 rounded down, u a 32-bit integer
 */
#include "kernels/cpu/elementwise.h"
#include "kernels/rng.h"

void CPU(uniform)(const void *args)
{
    const struct uniform_args *r = args;
    struct pieces p = pieces_of(r->y.rows, r->y.cols, &r->y, 1);
    float scale = (float)(r->bound * 0x1p-23);
    int threads = threads_for(&r->call, mat_size(r->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        float *y = piece(p, r->y, i);
        uint64_t first = (uint64_t)(i * p.size);
        int64_t n = piece_size(p, i);
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            y[k] = (float)rng_int24(r->key, first + (uint64_t)k) * scale;
    }
}

void CPU(uniform_index)(const void *args)
{
    const struct uniform_index_args *r = args;
    struct pieces p = pieces_of(r->y.rows, r->y.cols, &r->y, 1);
    uint64_t limit = (uint64_t)r->limit;
    int64_t least = r->first;
    int threads = threads_for(&r->call, mat_size(r->y), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++) {
        int64_t *y = (int64_t *)r->y.data + i * (p.whole ? p.size : r->y.ld), n = piece_size(p, i);
        uint64_t first = (uint64_t)(i * p.size);
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            y[k] = least + (int64_t)((rng_bits(r->key, first + (uint64_t)k) >> 32) * limit >> 32);
    }
}
