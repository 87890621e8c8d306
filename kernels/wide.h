/* Counts of 128 bits, in which formulas are evaluated: no product of realistic sizes wraps before it is
 * checked. */
#ifndef GTMARK_KERNELS_WIDE_H
#define GTMARK_KERNELS_WIDE_H

#include <stdint.h>

__extension__ typedef __int128 wide;

/* -1 beyond 63 bits. */
static inline int64_t wide_exact(wide count)
{
    return count > INT64_MAX ? -1 : (int64_t)count;
}

#endif
