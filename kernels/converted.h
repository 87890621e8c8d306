/*
 * Rows that run the row before them in a table that converts nothing, on converted operands, in scratch:
 *
 * - in BF16: operands in BF16 are widened to F32, and outputs are rounded to BF16, once; what is accumulated
 * is added in F32 before; rows that ranks exchange stay in BF16;
 * - with fewer bits than the type has (TF32): the factors of products are rounded to these.
 *
 * All roundings are to the nearest, and to the even one of two. The row must be in call.kernel, for `run` and
 * for `scratch`.
 */
#ifndef GTMARK_KERNELS_CONVERTED_H
#define GTMARK_KERNELS_CONVERTED_H

#include "kernels/backend.h"

/* Such a row in a table; type: its dtype and bits. */
#define CONVERTED(op, variant, type, supports)                                                               \
    {                                                                                                        \
        op, variant, type, converted_run, converted_scratch, NULL, supports                                  \
    }

void converted_run(const void *args);
int64_t converted_scratch(const void *args);

/* The row that such a row runs; of another row itself. */
const struct kernel *converted_over(const struct kernel *k);

/* BF16 to F32, of matrices of the same shape, on up to `threads` threads. */
void mat_widen(struct mat to, struct mat from, int threads);

/* to = from, of the same type, F32 or F64, with this many significant bits. */
void mat_round(struct mat to, struct mat from, int bits, int threads);

#endif
