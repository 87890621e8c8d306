/*
 * Selection of the microbenchmarks for the ceilings. They share the backends' instruction sets, so isa.c
 * alone decides what this processor can run.
 */
#include "kernels/peak.h"

#include <stddef.h>

extern const struct backend cpu_base_backend, cpu_avx2_backend, cpu_avx512_backend, cpu_amx_backend;
extern const struct peak cpu_base_peak, cpu_avx2_peak, cpu_avx512_peak, cpu_amx_peak;

const struct peak *peak_of(const struct backend *backend)
{
    static const struct {
        const struct backend *backend;
        const struct peak *peak;
    } all[] = {
        {&cpu_base_backend, &cpu_base_peak},
#if ISA_avx2
        {&cpu_avx2_backend, &cpu_avx2_peak},
#endif
#if ISA_avx512
        {&cpu_avx512_backend, &cpu_avx512_peak},
#endif
#if ISA_amx
        {&cpu_amx_backend, &cpu_amx_peak},
#endif
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].backend->kernels == backend->kernels) /* or a copy, above a plug-in */
            return all[i].peak;
    return NULL;
}
