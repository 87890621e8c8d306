/*
 * The rows of the CUDA backend; the first row of an op is its default. There is no fallback backend: an op
 * without a row is an error, which backend_cuda reports.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/launch.h"

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
    {OP_linear, "tf32", F32, cuda_linear_tf32, cuda_linear_scratch},
    ROW_SCRATCH(linear_backward, "cublaslt", linear_backward),
    {OP_linear_backward, "tf32", F32, cuda_linear_backward_tf32, cuda_linear_backward_scratch},
    ROW(layer_norm, "cuda", layer_norm),
    ROW_SCRATCH(layer_norm_backward, "cuda", layer_norm_backward),
    ROW(add_layer_norm, "cuda", add_layer_norm),
    ROW_SCRATCH(batch_norm, "cuda", batch_norm),
    ROW(batch_norm_inference, "cuda", batch_norm_inference),
    ROW_SCRATCH(batch_norm_backward, "cuda", batch_norm_backward),
    ROW_SCRATCH(graph_norm, "cuda", graph_norm),
    ROW_SCRATCH(graph_norm_backward, "cuda", graph_norm_backward),
    ROW(attention, "flash", attention),
    ROW_SCRATCH(attention_backward, "flash", attention_backward),
    ROW_SCRATCH(attention_scores, "cublas", attention_scores),
    ROW_SCRATCH(attention_scores_backward, "cublas", attention_scores_backward),
    ROW_SCRATCH(attention_softmax, "cuda", attention_softmax),
    ROW_SCRATCH(attention_softmax_backward, "cuda", attention_softmax_backward),
    ROW_SCRATCH(attention_values, "cublas", attention_values),
    ROW_SCRATCH(attention_values_backward, "cublas", attention_values_backward),
    ROW_SCRATCH(sparse_attention, "fused", sparse_attention),
    ROW_SCRATCH(sparse_attention_backward, "fused", sparse_attention_backward),
    ROW_SCRATCH(spmm, "cuda", spmm),
    ROW_SCRATCH(spmm, "cusparse", spmm_cusparse),
    ROW_SCRATCH(spmm_backward, "cuda", spmm_backward),
    ROW_SCRATCH(spmm_backward, "cusparse", spmm_backward_cusparse),
    ROW(add, "cuda", add),
    ROW(copy, "cuda", copy),
    ROW(fill, "cuda", fill),
    ROW_SCRATCH(mean_pool, "cuda", mean_pool),
    ROW(mean_pool_backward, "cuda", mean_pool_backward),
    ROW_SCRATCH(sum_pool, "cuda", sum_pool),
    ROW(sum_pool_backward, "cuda", sum_pool_backward),
    ROW_SCRATCH(max_pool, "cuda", max_pool),
    ROW_SCRATCH(max_pool_backward, "cuda", max_pool_backward),
    ROW_SCRATCH(mse, "cuda", mse),
    ROW(mse_backward, "cuda", mse_backward),
    ROW_SCRATCH(cross_entropy, "cuda", cross_entropy),
    ROW(cross_entropy_backward, "cuda", cross_entropy_backward),
    ROW(adamw, "cuda", adamw),
    ROW(advance, "cuda", advance),
    ROW(uniform, "cuda", uniform),
    ROW(uniform_index, "cuda", uniform_index),
};

/* The symbol that programs look up in this library. */
extern const struct backend gtmark_cuda;
const struct backend gtmark_cuda = {
    .name = "cuda",
    .doc = "NVIDIA GPU",
    .kernels = kernels,
    .count = sizeof kernels / sizeof *kernels,
    .device = &cuda_gpu,
    .head_most = ATTENTION_MOST,
};
