/*
 * The rows of the CUDA backend; the first row of an op is its default. There is no backend below, since the
 * host cannot run on device memory: what records an op without a row is refused (bench/cli/refusals.h).
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"

#define ROW(op, variant, type, run)                                                                          \
    {                                                                                                        \
        OP_##op, variant, TYPE_##type, cuda_##run, NULL, NULL                                                \
    }
#define ROW_SCRATCH(op, variant, type, run)                                                                  \
    {                                                                                                        \
        OP_##op, variant, TYPE_##type, cuda_##run, cuda_##run##_scratch, NULL                                \
    }

#define ROW_PREPARED(op, variant, type, run)                                                                 \
    {                                                                                                        \
        OP_##op, variant, TYPE_##type, cuda_##run, cuda_##run##_scratch, cuda_##run##_prepare                \
    }

static const struct kernel kernels[] = {
    ROW_SCRATCH(linear, "cublaslt", f32, linear),
    {OP_linear, "tf32", TYPE_tf32, cuda_linear_tf32, cuda_linear_scratch, NULL},
    ROW_SCRATCH(linear_backward, "cublaslt", f32, linear_backward),
    {OP_linear_backward, "tf32", TYPE_tf32, cuda_linear_backward_tf32, cuda_linear_backward_scratch, NULL},
    ROW(layer_norm, "cuda", f32, layer_norm),
    ROW_SCRATCH(layer_norm_backward, "cuda", f32, layer_norm_backward),
    ROW(add_layer_norm, "cuda", f32, add_layer_norm),
    ROW_SCRATCH(batch_norm, "cuda", f32, batch_norm),
    ROW(batch_norm_inference, "cuda", f32, batch_norm_inference),
    ROW_SCRATCH(batch_norm_backward, "cuda", f32, batch_norm_backward),
    ROW_SCRATCH(graph_norm, "cuda", f32, graph_norm),
    ROW_SCRATCH(graph_norm_backward, "cuda", f32, graph_norm_backward),
    ROW(attention, "flash", f32, attention),
    ROW_SCRATCH(attention_backward, "flash", f32, attention_backward),
    ROW_SCRATCH(attention_scores, "cublas", f32, attention_scores),
    ROW_SCRATCH(attention_scores_backward, "cublas", f32, attention_scores_backward),
    ROW_SCRATCH(attention_softmax, "cuda", f32, attention_softmax),
    ROW_SCRATCH(attention_softmax_backward, "cuda", f32, attention_softmax_backward),
    ROW_SCRATCH(attention_values, "cublas", f32, attention_values),
    ROW_SCRATCH(attention_values_backward, "cublas", f32, attention_values_backward),
    ROW_SCRATCH(sparse_attention, "fused", f32, sparse_attention),
    ROW_SCRATCH(sparse_attention_backward, "fused", f32, sparse_attention_backward),
    ROW_SCRATCH(spmm, "cuda", f32, spmm),
    ROW_PREPARED(spmm, "cusparse", f32, spmm_cusparse),
    ROW_SCRATCH(spmm_backward, "cuda", f32, spmm_backward),
    ROW_PREPARED(spmm_backward, "cusparse", f32, spmm_backward_cusparse),
    ROW(add, "cuda", f32, add),
    ROW(copy, "cuda", f32, copy),
    ROW(fill, "cuda", f32, fill),
    ROW(dropout, "cuda", f32, dropout),
    ROW(dropout_backward, "cuda", f32, dropout_backward),
    ROW(activate, "cuda", f32, activate),
    ROW(activate_backward, "cuda", f32, activate_backward),
    ROW(gine, "cuda", f32, gine),
    ROW(gine_backward, "cuda", f32, gine_backward),
    ROW(edge_add, "cuda", f32, edge_add),
    ROW(edge_add_backward, "cuda", f32, edge_add_backward),
    ROW(gated_mean, "cuda", f32, gated_mean),
    ROW(gated_mean_backward, "cuda", f32, gated_mean_backward),
    ROW_SCRATCH(mean_pool, "cuda", f32, mean_pool),
    ROW(mean_pool_backward, "cuda", f32, mean_pool_backward),
    ROW_SCRATCH(sum_pool, "cuda", f32, sum_pool),
    ROW(sum_pool_backward, "cuda", f32, sum_pool_backward),
    ROW_SCRATCH(max_pool, "cuda", f32, max_pool),
    ROW_SCRATCH(max_pool_backward, "cuda", f32, max_pool_backward),
    ROW_SCRATCH(mse, "cuda", f32, mse),
    ROW(mse_backward, "cuda", f32, mse_backward),
    ROW_SCRATCH(mae, "cuda", f32, mae),
    ROW(mae_backward, "cuda", f32, mae_backward),
    ROW_SCRATCH(cross_entropy, "cuda", f32, cross_entropy),
    ROW(cross_entropy_backward, "cuda", f32, cross_entropy_backward),
    ROW(adamw, "cuda", f32, adamw),
    ROW(advance, "cuda", f32, advance),
    ROW(uniform, "cuda", f32, uniform),
    ROW(uniform_index, "cuda", f32, uniform_index),
};

/* The symbols that programs look up in this library: what it was made from, and the backend. */
extern const char gtmark_cuda_id[];
extern const struct backend gtmark_cuda;
const char gtmark_cuda_id[] = CUDA_ID;
const struct backend gtmark_cuda = {
    .name = "cuda",
    .doc = "NVIDIA GPU",
    .kernels = kernels,
    .count = sizeof kernels / sizeof *kernels,
    .device = &cuda_gpu,
    .head_most = ATTENTION_MOST,
};
