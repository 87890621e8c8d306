/*
 * Selection among the tables of kernels/cpu, which is compiled once per instruction set (ISA_X86: plain
 * x86-64, x86-64-v3 with AVX2 and FMA, x86-64-v4 with AVX-512; elsewhere only the compiler's default).
 * GTMARK_ISA=base or avx2 in the environment excludes the larger sets. ISA_AVX2 and ISA_AVX512: which are
 * compiled.
 */
#include "kernels/backend.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern const struct backend cpu_base_backend;

#if ISA_X86
extern const struct backend cpu_avx2_backend, cpu_avx512_backend;

/* Whether GTMARK_ISA names this instruction set. */
static bool limited_to(const char *isa)
{
    const char *limit = getenv("GTMARK_ISA");
    return limit && strcmp(limit, isa) == 0;
}

static bool has_avx2(void)
{
    return !limited_to("base") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && !limited_to("avx2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

const struct backend *const *backend_cpu_all(void)
{
#if ISA_X86
    static const struct backend *const all[] = {
#if ISA_AVX512
        &cpu_avx512_backend,
#endif
#if ISA_AVX2
        &cpu_avx2_backend,
#endif
        &cpu_base_backend,
        NULL
    };
    return all + (ISA_AVX512 && !has_avx512()) + (ISA_AVX2 && !has_avx2());
#else
    static const struct backend *const all[] = {&cpu_base_backend, NULL};
    return all;
#endif
}

const struct backend *backend_cpu(void)
{
    return *backend_cpu_all();
}
