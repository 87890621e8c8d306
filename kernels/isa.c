/*
 * Selection among the tables of kernels/cpu, which is compiled once per instruction set (ISA_X86: plain
 * x86-64, x86-64-v3 with AVX2 and FMA, x86-64-v4 with AVX-512, and some with AMX; elsewhere only the
 * compiler's default). GTMARK_ISA=base, avx2 or avx512 in the environment excludes the larger sets. ISA_avx2,
 * ISA_avx512 and ISA_amx: which are compiled.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/backend.h"
#include "kernels/cpu/instructions.h"
#if ISA_X86
#include <cpuid.h>
#endif

extern const struct backend cpu_base_backend, cpu_avx2_backend, cpu_avx512_backend, cpu_amx_backend;

bool instructions_suffice(const unsigned char *needs, uint32_t (*read)(uint32_t leaf, int reg))
{
#define PLACE(name, leaf, reg, bit) {leaf, reg, bit},
    static const uint32_t places[][3] = {INSTRUCTIONS(PLACE)};
    size_t i = 0, count = sizeof places / sizeof *places;
    while (i < count && (!needs[i] || (read(places[i][0], (int)places[i][1]) >> places[i][2] & 1)))
        i++;
    return i == count;
}

static uint32_t read_register(uint32_t leaf, int reg)
{
    enum { GET = 0x1022, ASK = 0x1023, TILES = 18 }; /* of a process; it is asked once */
    uint32_t r[4] = {0};
#if ISA_X86
    if (leaf == INSTRUCTIONS_GRANTED && syscall(SYS_arch_prctl, ASK, TILES) == 0)
        syscall(SYS_arch_prctl, GET, r);
    else if (leaf < INSTRUCTIONS_GRANTED)
        __get_cpuid_count(leaf, 0, &r[0], &r[1], &r[2], &r[3]);
    else if (leaf == INSTRUCTIONS_SAVED && read_register(1, 2) & bit_OSXSAVE)
        __asm__("xgetbv" : "=a"(r[0]), "=d"(r[3]) : "c"(0));
#endif
    return leaf ? r[reg] : 0;
}

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
        for (best = all; best[1] && !instructions_suffice((*best)->needs, read_register);)
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
