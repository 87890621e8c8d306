/* Exchanges between ranks (kernels/ranks.h) of the rows of matrices, which may be in BF16 for any `real`. */
#ifndef GTMARK_KERNELS_REF_EXCHANGE_H
#define GTMARK_KERNELS_REF_EXCHANGE_H

#include <stdlib.h>
#include <string.h>

#include "kernels/ranks.h"
#include "kernels/ref/loops.h"

#ifndef REF_COUNT

/* The boundaries of what goes to or comes from each rank, in bytes: entry p is size times at(context, p). */
static inline int64_t *byte_bounds(const struct ranks *r, int64_t size,
                                   int64_t (*at)(const void *context, int rank), const void *context)
{
    int64_t *bounds = malloc(((size_t)r->count + 1) * sizeof *bounds);
    if (!bounds)
        abort();
    for (int p = 0; p <= r->count; p++)
        bounds[p] = size * at(context, p);
    return bounds;
}

static inline char *place(struct mat m, int64_t i, int64_t k)
{
    return (char *)m.data + (i * m.ld + k) * (int64_t)dtype_size(m.dtype);
}

static inline void copy_row(struct mat to, int64_t i, struct mat from, int64_t j)
{
    memcpy(place(to, i, 0), place(from, j, 0), (size_t)to.cols * dtype_size(to.dtype));
}

#endif

#endif
