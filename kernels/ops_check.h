/* What the binder (ops_bind.c) needs of an op's row besides its metadata. */
#ifndef GTMARK_KERNELS_OPS_CHECK_H
#define GTMARK_KERNELS_OPS_CHECK_H

#include "kernels/ops.h"

/* The message of the first CHECK of ops.def that does not hold; null if all do. dims: bound. */
const char *op_objection(enum op op, const void *args, const int64_t dims[DIMS]);

/* The attribute at this offset of the arguments. */
static inline int int_at(const void *args, size_t at)
{
    return *(const int *)((const char *)args + at);
}

#endif
