/* The rows in BF16 that processors with AMX have above those of AVX-512. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/instructions.h"
#include "kernels/mlp_steps.h"

extern const struct backend cpu_avx512_backend;

static const struct mlp_steps steps = {CPU(linear), CPU(linear_backward), CPU(linear_scratch),
                                       CPU(linear_backward_scratch)};

static void mlp(const void *args)
{
    mlp_in_steps(args, &steps);
}

static int64_t mlp_scratch(const void *args)
{
    return mlp_in_steps_scratch(args, &steps);
}

static void mlp_backward(const void *args)
{
    mlp_backward_in_steps(args, &steps);
}

static int64_t mlp_backward_scratch(const void *args)
{
    return mlp_backward_in_steps_scratch(args, &steps);
}

static const struct kernel kernels[] = {
    {OP_linear, "simd", TYPE_bf16, CPU(linear), CPU(linear_scratch), NULL, NULL},
    {OP_linear_backward, "simd", TYPE_bf16, CPU(linear_backward), CPU(linear_backward_scratch), NULL, NULL},
    {OP_mlp, "steps", TYPE_bf16, mlp, mlp_scratch, NULL, NULL},
    {OP_mlp_backward, "steps", TYPE_bf16, mlp_backward, mlp_backward_scratch, NULL, NULL},
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
