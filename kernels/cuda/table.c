/*
 * The rows of the CUDA backend; the first row of an op is its default. It has no base: what has no row here
 * is a mistake, which backend_cuda reports.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gpu.h"

#define ROW(op, variant, run)                                                                                \
    {                                                                                                        \
        OP_##op, variant, F32, cuda_##run, NULL                                                              \
    }
#define ROW_SCRATCH(op, variant, run)                                                                        \
    {                                                                                                        \
        OP_##op, variant, F32, cuda_##run, cuda_##run##_scratch                                              \
    }

static const struct kernel kernels[] = {
    ROW_SCRATCH(linear, "cublaslt", linear),
    ROW_SCRATCH(linear_backward, "cublaslt", linear_backward),
    {OP_linear, "tf32", F32, cuda_linear_tf32, cuda_linear_scratch},
    {OP_linear_backward, "tf32", F32, cuda_linear_backward_tf32, cuda_linear_backward_scratch},
    ROW(attention, "flash", attention),
    ROW_SCRATCH(attention_backward, "flash", attention_backward),
    ROW_SCRATCH(attention_scores, "cublas", attention_scores),
    ROW_SCRATCH(attention_scores_backward, "cublas", attention_scores_backward),
    ROW_SCRATCH(attention_softmax, "warp", attention_softmax),
    ROW_SCRATCH(attention_softmax_backward, "warp", attention_softmax_backward),
    ROW_SCRATCH(attention_values, "cublas", attention_values),
    ROW_SCRATCH(attention_values_backward, "cublas", attention_values_backward),
};

/* What programs look for in this library. */
extern const struct backend gtmark_cuda;
const struct backend gtmark_cuda = {
    .name = "cuda",
    .doc = "NVIDIA GPU",
    .kernels = kernels,
    .count = sizeof kernels / sizeof *kernels,
    .device = &cuda_gpu,
};
