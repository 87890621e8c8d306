/*
 * The rows of the CUDA backend; the first row of an op is its default. There is no backend below, since the
 * host cannot run on device memory: what records an op without a row is refused (bench/cli/command_line.h).
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"

/* Supports the op without options. */
static bool is_plain(unsigned options)
{
    return options == 0;
}

/* Dense attention: supports a bias, also weights of keys, and also dropout, and no other option. */
static bool may_be_biased(unsigned options)
{
    return !(options & ~(unsigned)OPTION_attention_bias);
}

static bool may_be_masked(unsigned options)
{
    return may_be_biased(options & ~(unsigned)OPTION_attention_mask);
}

static bool may_drop(unsigned options)
{
    return may_be_masked(options & ~(unsigned)OPTION_attention_dropout);
}

/* Supports sparse attention with rows of edges, and no other option. */
static bool may_have_edges(unsigned options)
{
    return !(options & ~(unsigned)OPTION_sparse_attention_edges);
}

#define KERNEL(op, variant, type, run, scratch, prepare, supports)                                           \
    {                                                                                                        \
        OP_##op, variant, TYPE_##type, cuda_##run, scratch, prepare, supports                                \
    }
#define ROW(op, variant, type, run)         KERNEL(op, variant, type, run, NULL, NULL, NULL)
#define ROW_SCRATCH(op, variant, type, run) KERNEL(op, variant, type, run, cuda_##run##_scratch, NULL, NULL)
#define EDGES_SCRATCH(op, variant, type, run)                                                                \
    KERNEL(op, variant, type, run, cuda_##run##_scratch, NULL, may_have_edges)
#define PLAIN_PREPARED(op, variant, type, run)                                                               \
    KERNEL(op, variant, type, run, cuda_##run##_scratch, cuda_##run##_prepare, is_plain)

/* The two rows of kernels over the type of their operands (by_type). */
#define BOTH(row, op, variant, run) row(op, variant, f32, run), row(op, variant, bf16, run)

static const struct kernel kernels[] = {
    BOTH(ROW_SCRATCH, linear, "cublaslt", linear),
    KERNEL(linear, "tf32", tf32, linear_tf32, cuda_linear_scratch, NULL, NULL),
    BOTH(ROW_SCRATCH, linear_backward, "cublaslt", linear_backward),
    KERNEL(linear_backward, "tf32", tf32, linear_backward_tf32, cuda_linear_backward_scratch, NULL, NULL),
    BOTH(ROW, layer_norm, "cuda", layer_norm),
    BOTH(ROW_SCRATCH, layer_norm_backward, "cuda", layer_norm_backward),
    BOTH(ROW, add_layer_norm, "cuda", add_layer_norm),
    BOTH(ROW_SCRATCH, batch_norm, "cuda", batch_norm),
    BOTH(ROW, batch_norm_inference, "cuda", batch_norm_inference),
    BOTH(ROW_SCRATCH, batch_norm_backward, "cuda", batch_norm_backward),
    BOTH(ROW_SCRATCH, graph_norm, "cuda", graph_norm),
    BOTH(ROW_SCRATCH, graph_norm_backward, "cuda", graph_norm_backward),
    KERNEL(attention, "flash", f32, attention, cuda_attention_scratch, NULL, may_drop),
    KERNEL(attention, "3xtf32", f32, attention_3xtf32, cuda_attention_scratch, NULL, may_be_biased),
    KERNEL(attention, "tf32", tf32, attention_tf32, cuda_attention_scratch, NULL, may_be_biased),
    KERNEL(attention, "bf16", bf16, attention_bf16, cuda_attention_scratch, NULL, may_be_masked),
    KERNEL(attention_backward, "flash", f32, attention_backward, cuda_attention_backward_scratch, NULL,
           may_drop),
    KERNEL(attention_backward, "3xtf32", f32, attention_backward_3xtf32, cuda_attention_backward_scratch,
           NULL, may_be_biased),
    KERNEL(attention_backward, "tf32", tf32, attention_backward_tf32, cuda_attention_backward_scratch, NULL,
           may_be_biased),
    KERNEL(attention_backward, "bf16", bf16, attention_backward_bf16, cuda_attention_backward_scratch, NULL,
           may_be_masked),
    ROW_SCRATCH(attention_scores, "cublas", f32, attention_scores),
    ROW_SCRATCH(attention_scores_backward, "cublas", f32, attention_scores_backward),
    ROW_SCRATCH(attention_softmax, "cuda", f32, attention_softmax),
    ROW_SCRATCH(attention_softmax_backward, "cuda", f32, attention_softmax_backward),
    ROW_SCRATCH(attention_values, "cublas", f32, attention_values),
    ROW_SCRATCH(attention_values_backward, "cublas", f32, attention_values_backward),
    BOTH(EDGES_SCRATCH, sparse_attention, "fused", sparse_attention),
    BOTH(EDGES_SCRATCH, sparse_attention_backward, "fused", sparse_attention_backward),
    ROW_SCRATCH(performer_keys, "cuda", f32, performer_keys),
    ROW(performer_keys_backward, "cuda", f32, performer_keys_backward),
    ROW_SCRATCH(performer_attention, "cuda", f32, performer_attention),
    ROW_SCRATCH(performer_attention_backward, "cuda", f32, performer_attention_backward),
    BOTH(ROW_SCRATCH, spmm, "cuda", spmm),
    PLAIN_PREPARED(spmm, "cusparse", f32, spmm_cusparse),
    BOTH(ROW_SCRATCH, spmm_backward, "cuda", spmm_backward),
    PLAIN_PREPARED(spmm_backward, "cusparse", f32, spmm_backward_cusparse),
    BOTH(ROW, add, "cuda", add),
    BOTH(ROW, copy, "cuda", copy),
    BOTH(ROW, cast, "cuda", cast),
    BOTH(ROW, fill, "cuda", fill),
    BOTH(ROW, dropout, "cuda", dropout),
    BOTH(ROW, dropout_backward, "cuda", dropout_backward),
    BOTH(ROW, scale_rows, "cuda", scale_rows),
    BOTH(ROW, scale_rows_backward, "cuda", scale_rows_backward),
    BOTH(ROW, activate, "cuda", activate),
    BOTH(ROW, activate_backward, "cuda", activate_backward),
    ROW_SCRATCH(gatv2, "cuda", f32, gatv2),
    ROW_SCRATCH(gatv2_backward, "cuda", f32, gatv2_backward),
    BOTH(ROW, gcn_weights, "cuda", gcn_weights),
    ROW(pna_pool, "cuda", f32, pna_pool),
    ROW_SCRATCH(pna_pool_backward, "cuda", f32, pna_pool_backward),
    ROW(edge_pool, "cuda", f32, edge_pool),
    ROW(edge_pool_backward, "cuda", f32, edge_pool_backward),
    ROW(edge_mean, "cuda", f32, edge_mean),
    ROW(edge_mean_backward, "cuda", f32, edge_mean_backward),
    BOTH(ROW, gine, "cuda", gine),
    BOTH(ROW, gine_backward, "cuda", gine_backward),
    BOTH(ROW, edge_distance, "cuda", edge_distance),
    BOTH(ROW, edge_distance_backward, "cuda", edge_distance_backward),
    BOTH(ROW, edge_add, "cuda", edge_add),
    BOTH(ROW, edge_add_backward, "cuda", edge_add_backward),
    BOTH(ROW, gated_mean, "cuda", gated_mean),
    BOTH(ROW, gated_mean_backward, "cuda", gated_mean_backward),
    BOTH(ROW_SCRATCH, mean_pool, "cuda", mean_pool),
    BOTH(ROW, mean_pool_backward, "cuda", mean_pool_backward),
    BOTH(ROW_SCRATCH, sum_pool, "cuda", sum_pool),
    BOTH(ROW, sum_pool_backward, "cuda", sum_pool_backward),
    BOTH(ROW_SCRATCH, max_pool, "cuda", max_pool),
    BOTH(ROW_SCRATCH, max_pool_backward, "cuda", max_pool_backward),
    BOTH(ROW_SCRATCH, mean_error, "cuda", mean_error),
    BOTH(ROW, mean_error_backward, "cuda", mean_error_backward),
    BOTH(ROW_SCRATCH, cross_entropy, "cuda", cross_entropy),
    BOTH(ROW, cross_entropy_backward, "cuda", cross_entropy_backward),
    BOTH(ROW_SCRATCH, binary_cross_entropy, "cuda", binary_cross_entropy),
    BOTH(ROW, binary_cross_entropy_backward, "cuda", binary_cross_entropy_backward),
    BOTH(ROW, embedding, "cuda", embedding),
    BOTH(ROW_SCRATCH, embedding_backward, "cuda", embedding_backward),
    BOTH(ROW, l2_norm, "cuda", l2_norm),
    BOTH(ROW, l2_norm_backward, "cuda", l2_norm_backward),
    BOTH(ROW, row_dot, "cuda", row_dot),
    BOTH(ROW, row_dot_backward, "cuda", row_dot_backward),
    BOTH(ROW, adamw, "cuda", adamw),
    BOTH(ROW, advance, "cuda", advance),
    BOTH(ROW, uniform, "cuda", uniform),
    BOTH(ROW, uniform_index, "cuda", uniform_index),
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
