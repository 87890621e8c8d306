/* The rows in BF16 that processors with AMX have above those of AVX-512. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/instructions.h"

extern const struct backend cpu_avx512_backend;

static const struct kernel kernels[] = {
    {OP_linear, "simd", TYPE_bf16, CPU(linear), CPU(linear_scratch), NULL, NULL},
    {OP_linear_backward, "simd", TYPE_bf16, CPU(linear_backward), CPU(linear_backward_scratch), NULL, NULL},
};

static const unsigned char needs[] = {INSTRUCTIONS(INSTRUCTIONS_NEED)};

const struct backend CPU(backend) = {
    .name = "cpu-amx",
    .doc = "OpenMP and SIMD, compiled for avx512 and amx",
    .kernels = kernels,
    .count = sizeof kernels / sizeof *kernels,
    .base = &cpu_avx512_backend,
    .needs = needs,
};
