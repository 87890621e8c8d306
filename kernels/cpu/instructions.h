/*
 * The instructions of x86-64 that -march=x86-64-v3 and -v4, and -mamx, let a compiler use beyond the
 * baseline: NAME, where the compiler defines __NAME__, and the place where the processor says that it has
 * them: leaf of CPUID, register (0 to 3: EAX, EBX, ECX, EDX) and bit. Two are no leaves: INSTRUCTIONS_SAVED
 * is the register XCR0, which registers the operating system keeps (Intel, "Software Developer's Manual",
 * volume 2, CPUID and XGETBV), and INSTRUCTIONS_GRANTED, which of them it keeps for this process, which has
 * to ask (Linux, Documentation/arch/x86/xstate.rst): it comes last, so that only a process that has all else
 * asks.
 */
#ifndef GTMARK_KERNELS_CPU_INSTRUCTIONS_H
#define GTMARK_KERNELS_CPU_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define INSTRUCTIONS_SAVED   UINT32_MAX
#define INSTRUCTIONS_GRANTED (UINT32_MAX - 1)

/* clang-format off */
#define INSTRUCTIONS(X)                                                                                      \
    X(SSE3, 1, 2, 0) X(SSSE3, 1, 2, 9) X(FMA, 1, 2, 12) X(SSE4_1, 1, 2, 19) X(SSE4_2, 1, 2, 20)              \
    X(CRC32, 1, 2, 20) X(MOVBE, 1, 2, 22) X(POPCNT, 1, 2, 23) X(XSAVE, 1, 2, 26) X(AVX, 1, 2, 28)            \
    X(AVX, INSTRUCTIONS_SAVED, 0, 1) X(AVX, INSTRUCTIONS_SAVED, 0, 2) X(F16C, 1, 2, 29)                      \
    X(BMI, 7, 1, 3) X(AVX2, 7, 1, 5) X(BMI2, 7, 1, 8) X(AVX512F, 7, 1, 16)                                   \
    X(AVX512F, INSTRUCTIONS_SAVED, 0, 5) X(AVX512F, INSTRUCTIONS_SAVED, 0, 6)                                \
    X(AVX512F, INSTRUCTIONS_SAVED, 0, 7) X(AVX512DQ, 7, 1, 17) X(AVX512CD, 7, 1, 28)                         \
    X(AVX512BW, 7, 1, 30) X(AVX512VL, 7, 1, 31) X(LAHF_SAHF, 0x80000001, 2, 0)                               \
    X(LZCNT, 0x80000001, 2, 5) X(AMX_BF16, 7, 3, 22) X(AMX_TILE, 7, 3, 24)                                   \
    X(AMX_TILE, INSTRUCTIONS_SAVED, 0, 17) X(AMX_TILE, INSTRUCTIONS_SAVED, 0, 18)                            \
    X(AMX_TILE, INSTRUCTIONS_GRANTED, 0, 18)
/* clang-format on */

/* 1 where the compiler's flags let it use the instructions, as __NAME__ then is; else 0, and it is no macro.
 */
#define INSTRUCTIONS_NEED(name, ...) INSTRUCTIONS_VALUE(__##name##__),
#define INSTRUCTIONS_VALUE(value)    INSTRUCTIONS_IS_1(value)
#define INSTRUCTIONS_IS_1(text)      sizeof #text == sizeof "1"

/* Whether the processor has what is 1 in needs, by a function that reads a register of a leaf. */
bool instructions_suffice(const unsigned char *needs, uint32_t (*read)(uint32_t leaf, int reg));

/* This processor's: a register, 0 where it cannot be read; and whether it has instructions of the list. */
uint32_t instructions_read(uint32_t leaf, int reg);
bool instructions_have(const char *name);

#endif
