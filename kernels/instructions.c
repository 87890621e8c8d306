#include "kernels/cpu/instructions.h"

#include <stddef.h>
#include <string.h>
#if ISA_X86
#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

bool instructions_suffice(const unsigned char *needs, uint32_t (*read)(uint32_t leaf, int reg))
{
#define PLACE(name, leaf, reg, bit) {leaf, reg, bit},
    static const uint32_t places[][3] = {INSTRUCTIONS(PLACE)};
    size_t i = 0, count = sizeof places / sizeof *places;
    while (i < count && (!needs[i] || (read(places[i][0], (int)places[i][1]) >> places[i][2] & 1)))
        i++;
    return i == count;
}

uint32_t instructions_read(uint32_t leaf, int reg)
{
    enum { GET = 0x1022, ASK = 0x1023, TILES = 18 }; /* of a process; it is asked once */
    uint32_t r[4] = {0};
#if ISA_X86
    /* Where CPUID is a fault (arch_prctl(2)), it is as if the processor had nothing. */
    if (leaf == INSTRUCTIONS_GRANTED && syscall(SYS_arch_prctl, ASK, TILES) == 0)
        syscall(SYS_arch_prctl, GET, r);
    else if (leaf < INSTRUCTIONS_GRANTED && syscall(SYS_arch_prctl, ARCH_GET_CPUID, 0) != 0)
        __get_cpuid_count(leaf, 0, &r[0], &r[1], &r[2], &r[3]);
    else if (leaf == INSTRUCTIONS_SAVED && instructions_read(1, 2) & bit_OSXSAVE)
        __asm__("xgetbv" : "=a"(r[0]), "=d"(r[3]) : "c"(0));
#endif
    return leaf || ISA_X86 ? r[reg] : 0;
}

bool instructions_have(const char *name)
{
#define NAME(name, ...) #name,
    static const char *const names[] = {INSTRUCTIONS(NAME)};
    unsigned char needs[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof needs; i++)
        needs[i] = strcmp(names[i], name) == 0;
    return instructions_suffice(needs, instructions_read);
}
