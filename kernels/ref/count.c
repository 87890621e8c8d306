/* The counter of the counting type (real.h); empty for the other types. */
#include "kernels/ref/real.h"

#ifdef REF_COUNT

extern "C" {
#include "kernels/backend.h"
}

int64_t ref_count_take(void)
{
    int64_t flops = real::flops;
    real::flops = 0;
    return flops;
}

#endif
