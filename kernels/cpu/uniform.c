/*
 * Counter-based uniform numbers on [-bound, bound): y_ik = n(key, i M + k) scale with a 24-bit integer n
 * (rng.h) and scale = bound 2^-23. One rounding, so every machine gets the same bits.
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
