/*
 * The rows of the CUDA backend; the first row of an op is its default. There is no backend below, since the
 * host cannot run on device memory: what records an op without a row is refused (bench/cli/refusals.h).
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"

/* Supports the op without options. */
static bool is_plain(unsigned options)
{
    return options == 0;
}

/* Supports dense attention's dropout, and no other option. */
static bool may_drop(unsigned options)
{
    return !(options & ~(unsigned)OPTION_attention_dropout);
}

#define KERNEL(op, variant, type, run, scratch, prepare, supports)                                           \
    {                                                                                                        \
        OP_##op, variant, TYPE_##type, cuda_##run, scratch, prepare, supports                                \
    }
#define ROW(op, variant, type, run)         KERNEL(op, variant, type, run, NULL, NULL, NULL)
#define ROW_SCRATCH(op, variant, type, run) KERNEL(op, variant, type, run, cuda_##run##_scratch, NULL, NULL)
#define PLAIN(op, variant, type, run)       KERNEL(op, variant, type, run, NULL, NULL, is_plain)
#define PLAIN_SCRATCH(op, variant, type, run)                                                                \
    KERNEL(op, variant, type, run, cuda_##run##_scratch, NULL, is_plain)
#define PLAIN_PREPARED(op, variant, type, run)                                                               \
    KERNEL(op, variant, type, run, cuda_##run##_scratch, cuda_##run##_prepare, is_plain)

static const struct kernel kernels[] = {
    ROW_SCRATCH(linear, "cublaslt", f32, linear),
    ROW_SCRATCH(linear, "cublaslt", bf16, linear),
    KERNEL(linear, "tf32", tf32, linear_tf32, cuda_linear_scratch, NULL, NULL),
    ROW_SCRATCH(linear_backward, "cublaslt", f32, linear_backward),
    ROW_SCRATCH(linear_backward, "cublaslt", bf16, linear_backward),
    KERNEL(linear_backward, "tf32", tf32, linear_backward_tf32, cuda_linear_backward_scratch, NULL, NULL),
    ROW(layer_norm, "cuda", f32, layer_norm),
    ROW(layer_norm, "cuda", bf16, layer_norm),
    ROW_SCRATCH(layer_norm_backward, "cuda", f32, layer_norm_backward),
    ROW_SCRATCH(layer_norm_backward, "cuda", bf16, layer_norm_backward),
    ROW(add_layer_norm, "cuda", f32, add_layer_norm),
    ROW(add_layer_norm, "cuda", bf16, add_layer_norm),
    ROW_SCRATCH(batch_norm, "cuda", f32, batch_norm),
    ROW_SCRATCH(batch_norm, "cuda", bf16, batch_norm),
    ROW(batch_norm_inference, "cuda", f32, batch_norm_inference),
    ROW(batch_norm_inference, "cuda", bf16, batch_norm_inference),
    ROW_SCRATCH(batch_norm_backward, "cuda", f32, batch_norm_backward),
    ROW_SCRATCH(batch_norm_backward, "cuda", bf16, batch_norm_backward),
    ROW_SCRATCH(graph_norm, "cuda", f32, graph_norm),
    ROW_SCRATCH(graph_norm, "cuda", bf16, graph_norm),
    ROW_SCRATCH(graph_norm_backward, "cuda", f32, graph_norm_backward),
    ROW_SCRATCH(graph_norm_backward, "cuda", bf16, graph_norm_backward),
    KERNEL(attention, "flash", f32, attention, cuda_attention_scratch, NULL, may_drop),
    PLAIN(attention, "tf32", tf32, attention_tf32),
    PLAIN(attention, "bf16", bf16, attention_bf16),
    KERNEL(attention_backward, "flash", f32, attention_backward, cuda_attention_backward_scratch, NULL,
           may_drop),
    KERNEL(attention_backward, "tf32", tf32, attention_backward_tf32, cuda_attention_backward_scratch, NULL,
           is_plain),
    KERNEL(attention_backward, "bf16", bf16, attention_backward_bf16, cuda_attention_backward_scratch, NULL,
           is_plain),
    ROW_SCRATCH(attention_scores, "cublas", f32, attention_scores),
    ROW_SCRATCH(attention_scores_backward, "cublas", f32, attention_scores_backward),
    ROW_SCRATCH(attention_softmax, "cuda", f32, attention_softmax),
    ROW_SCRATCH(attention_softmax_backward, "cuda", f32, attention_softmax_backward),
    ROW_SCRATCH(attention_values, "cublas", f32, attention_values),
    ROW_SCRATCH(attention_values_backward, "cublas", f32, attention_values_backward),
    PLAIN_SCRATCH(sparse_attention, "fused", f32, sparse_attention),
    PLAIN_SCRATCH(sparse_attention, "fused", bf16, sparse_attention),
    PLAIN_SCRATCH(sparse_attention_backward, "fused", f32, sparse_attention_backward),
    PLAIN_SCRATCH(sparse_attention_backward, "fused", bf16, sparse_attention_backward),
    ROW_SCRATCH(performer_keys, "cuda", f32, performer_keys),
    ROW(performer_keys_backward, "cuda", f32, performer_keys_backward),
    ROW_SCRATCH(performer_attention, "cuda", f32, performer_attention),
    ROW_SCRATCH(performer_attention_backward, "cuda", f32, performer_attention_backward),
    ROW_SCRATCH(spmm, "cuda", f32, spmm),
    ROW_SCRATCH(spmm, "cuda", bf16, spmm),
    PLAIN_PREPARED(spmm, "cusparse", f32, spmm_cusparse),
    ROW_SCRATCH(spmm_backward, "cuda", f32, spmm_backward),
    ROW_SCRATCH(spmm_backward, "cuda", bf16, spmm_backward),
    PLAIN_PREPARED(spmm_backward, "cusparse", f32, spmm_backward_cusparse),
    ROW(add, "cuda", f32, add),
    ROW(add, "cuda", bf16, add),
    ROW(copy, "cuda", f32, copy),
    ROW(copy, "cuda", bf16, copy),
    ROW(narrow, "cuda", f32, narrow),
    ROW(narrow, "cuda", bf16, narrow),
    ROW(fill, "cuda", f32, fill),
    ROW(fill, "cuda", bf16, fill),
    ROW(dropout, "cuda", f32, dropout),
    ROW(dropout, "cuda", bf16, dropout),
    ROW(dropout_backward, "cuda", f32, dropout_backward),
    ROW(dropout_backward, "cuda", bf16, dropout_backward),
    ROW(activate, "cuda", f32, activate),
    ROW(activate, "cuda", bf16, activate),
    ROW(activate_backward, "cuda", f32, activate_backward),
    ROW(activate_backward, "cuda", bf16, activate_backward),
    ROW_SCRATCH(gatv2, "cuda", f32, gatv2),
    ROW_SCRATCH(gatv2_backward, "cuda", f32, gatv2_backward),
    ROW(gcn_weights, "cuda", f32, gcn_weights),
    ROW(gcn_weights, "cuda", bf16, gcn_weights),
    ROW(pna_pool, "cuda", f32, pna_pool),
    ROW_SCRATCH(pna_pool_backward, "cuda", f32, pna_pool_backward),
    ROW(edge_pool, "cuda", f32, edge_pool),
    ROW(edge_pool_backward, "cuda", f32, edge_pool_backward),
    ROW(edge_mean, "cuda", f32, edge_mean),
    ROW(edge_mean_backward, "cuda", f32, edge_mean_backward),
    PLAIN(gine, "cuda", f32, gine),
    PLAIN(gine, "cuda", bf16, gine),
    PLAIN(gine_backward, "cuda", f32, gine_backward),
    PLAIN(gine_backward, "cuda", bf16, gine_backward),
    ROW(edge_add, "cuda", f32, edge_add),
    ROW(edge_add, "cuda", bf16, edge_add),
    ROW(edge_add_backward, "cuda", f32, edge_add_backward),
    ROW(edge_add_backward, "cuda", bf16, edge_add_backward),
    PLAIN(gated_mean, "cuda", f32, gated_mean),
    PLAIN(gated_mean, "cuda", bf16, gated_mean),
    PLAIN(gated_mean_backward, "cuda", f32, gated_mean_backward),
    PLAIN(gated_mean_backward, "cuda", bf16, gated_mean_backward),
    ROW_SCRATCH(mean_pool, "cuda", f32, mean_pool),
    ROW_SCRATCH(mean_pool, "cuda", bf16, mean_pool),
    ROW(mean_pool_backward, "cuda", f32, mean_pool_backward),
    ROW(mean_pool_backward, "cuda", bf16, mean_pool_backward),
    ROW_SCRATCH(sum_pool, "cuda", f32, sum_pool),
    ROW_SCRATCH(sum_pool, "cuda", bf16, sum_pool),
    ROW(sum_pool_backward, "cuda", f32, sum_pool_backward),
    ROW(sum_pool_backward, "cuda", bf16, sum_pool_backward),
    ROW_SCRATCH(max_pool, "cuda", f32, max_pool),
    ROW_SCRATCH(max_pool, "cuda", bf16, max_pool),
    ROW_SCRATCH(max_pool_backward, "cuda", f32, max_pool_backward),
    ROW_SCRATCH(max_pool_backward, "cuda", bf16, max_pool_backward),
    ROW_SCRATCH(mean_error, "cuda", f32, mean_error),
    ROW_SCRATCH(mean_error, "cuda", bf16, mean_error),
    ROW(mean_error_backward, "cuda", f32, mean_error_backward),
    ROW(mean_error_backward, "cuda", bf16, mean_error_backward),
    ROW_SCRATCH(cross_entropy, "cuda", f32, cross_entropy),
    ROW_SCRATCH(cross_entropy, "cuda", bf16, cross_entropy),
    ROW(cross_entropy_backward, "cuda", f32, cross_entropy_backward),
    ROW(cross_entropy_backward, "cuda", bf16, cross_entropy_backward),
    ROW_SCRATCH(binary_cross_entropy, "cuda", f32, binary_cross_entropy),
    ROW_SCRATCH(binary_cross_entropy, "cuda", bf16, binary_cross_entropy),
    ROW(binary_cross_entropy_backward, "cuda", f32, binary_cross_entropy_backward),
    ROW(binary_cross_entropy_backward, "cuda", bf16, binary_cross_entropy_backward),
    ROW(embedding, "cuda", f32, embedding),
    ROW(embedding, "cuda", bf16, embedding),
    ROW_SCRATCH(embedding_backward, "cuda", f32, embedding_backward),
    ROW_SCRATCH(embedding_backward, "cuda", bf16, embedding_backward),
    ROW(l2_norm, "cuda", f32, l2_norm),
    ROW(l2_norm, "cuda", bf16, l2_norm),
    ROW(l2_norm_backward, "cuda", f32, l2_norm_backward),
    ROW(l2_norm_backward, "cuda", bf16, l2_norm_backward),
    ROW(row_dot, "cuda", f32, row_dot),
    ROW(row_dot, "cuda", bf16, row_dot),
    ROW(row_dot_backward, "cuda", f32, row_dot_backward),
    ROW(row_dot_backward, "cuda", bf16, row_dot_backward),
    ROW(adamw, "cuda", f32, adamw),
    ROW(adamw, "cuda", bf16, adamw),
    ROW(advance, "cuda", f32, advance),
    ROW(advance, "cuda", bf16, advance),
    ROW(uniform, "cuda", f32, uniform),
    ROW(uniform, "cuda", bf16, uniform),
    ROW(uniform_index, "cuda", f32, uniform_index),
    ROW(uniform_index, "cuda", bf16, uniform_index),
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
