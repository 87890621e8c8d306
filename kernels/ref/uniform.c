/*
 * Counter-based uniform random numbers: reals on [-bound, bound), and integers below a limit.
 *
 *   uniform        y_ik = n(key, i M + k) scale, n a 24-bit integer (rng.h),
 *                  scale = bound 2^-23 rounded to float
 *   uniform_index  y_ik = first + floor(u(key, i M + k) limit 2^-32), u a 32-bit integer: probabilities
 *                  of integers differ by at most limit 2^-32, relative to each other
 *
 * n and scale are exact in float and double, so there is a single rounding: the float result is the double
 * result, rounded, on every machine.
 */
#include "kernels/ref/loops.h"
#include "kernels/rng.h"

REF(uniform, 0)
{
    real scale = R((float)(a->bound * 0x1p-23));
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = R(rng_int24(a->key, (uint64_t)(i * a->y.cols + k))) * scale;
}

REF(uniform_index, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < a->y.cols; k++) {
            uint64_t bits = rng_bits(a->key, (uint64_t)(i * a->y.cols + k)) >> 32;
            *index_at(a->y, i, k) = a->first + (int64_t)(bits * (uint64_t)a->limit >> 32);
        }
}
