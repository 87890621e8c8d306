/*
 * Selection among the tables of kernels/cpu, which is compiled once per instruction set (ISA_X86: plain
 * x86-64, x86-64-v3 with AVX2 and FMA, x86-64-v4 with AVX-512, and some with AMX; elsewhere only the
 * compiler's default). GTMARK_ISA=base, avx2 or avx512 in the environment excludes the larger sets. ISA_avx2,
 * ISA_avx512 and ISA_amx: which are compiled.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/cpu/instructions.h"

extern const struct backend cpu_base_backend, cpu_avx2_backend, cpu_avx512_backend, cpu_amx_backend;

const struct backend *const *backend_cpu_all(void)
{
    static const struct backend *const all[] = {
#if ISA_X86 && ISA_amx
        &cpu_amx_backend,
#endif
#if ISA_X86 && ISA_avx512
        &cpu_avx512_backend,
#endif
#if ISA_X86 && ISA_avx2
        &cpu_avx2_backend,
#endif
        &cpu_base_backend,
        NULL
    };
    static const struct backend *const *_Atomic found; /* asking again may take a virtual machine 0.3 ms */
    const struct backend *const *best = found, *const * named;
    const char *limit = getenv("GTMARK_ISA");
    if (!best) {
        for (best = all; best[1] && !instructions_suffice((*best)->needs, instructions_read);)
            best++;
        found = best;
    }
    for (named = best; limit && *named && strcmp((*named)->name + strlen("cpu-"), limit) != 0;)
        named++;
    return *named ? named : best;
}

const struct backend *backend_cpu(void)
{
    return *backend_cpu_all();
}
