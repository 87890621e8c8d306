/* The counters of the counting type (real.h); empty for the other types. */
#include "kernels/ref/real.h"

#ifdef REF_COUNT

extern "C" {
#include "kernels/backend.h"
}

struct ref_count ref_count_take(void)
{
    struct ref_count taken = {real::flops, real::exps};
    real::flops = real::exps = 0;
    return taken;
}

#endif
