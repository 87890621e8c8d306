/*
 * The rows of one instruction set; the first row of an op is its default.
 */
#include "kernels/converted.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/instructions.h"

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

/* A row, and of one in f32 those that run it on converted operands. */
#define ROW(op, variant, type, run)         ROWS_##type(OP_##op, variant, CPU(run), NULL)
#define ROW_SCRATCH(op, variant, type, run) ROWS_##type(OP_##op, variant, CPU(run), CPU(run##_scratch))

#define ROWS_f32(op, variant, run, scratch)                                                                  \
    {op, variant, TYPE_f32, run, scratch, NULL, NULL}, CONVERTED(op, variant, TYPE_tf32, NULL),              \
        CONVERTED(op, variant, TYPE_bf16, NULL)
#define ROWS_f64(op, variant, run, scratch)                                                                  \
    {                                                                                                        \
        op, variant, TYPE_f64, run, scratch, NULL, NULL                                                      \
    }
#define ROWS_bf16(op, variant, run, scratch)                                                                 \
    {                                                                                                        \
        op, variant, TYPE_bf16, run, scratch, NULL, NULL                                                     \
    }

static const struct kernel kernels[] = {
    ROW_SCRATCH(linear, "simd", f32, linear),
    ROW_SCRATCH(linear_backward, "simd", f32, linear_backward),
#if HAVE_CBLAS
    ROW(linear, "blas", f32, linear_blas),
    ROW_SCRATCH(linear_backward, "blas", f32, linear_backward_blas),
#endif
    ROW_SCRATCH(mlp, "simd", f32, mlp),
    ROW_SCRATCH(mlp, "steps", f32, mlp_steps),
    ROW_SCRATCH(mlp_backward, "simd", f32, mlp_backward),
    ROW_SCRATCH(mlp_backward, "steps", f32, mlp_backward_steps),
    ROW(layer_norm, "simd", f32, layer_norm),
    ROW_SCRATCH(layer_norm_backward, "simd", f32, layer_norm_backward),
    ROW(add_layer_norm, "simd", f32, add_layer_norm),
    ROW_SCRATCH(batch_norm, "simd", f32, batch_norm),
    ROW_SCRATCH(batch_norm_inference, "simd", f32, batch_norm_inference),
    ROW_SCRATCH(batch_norm_backward, "simd", f32, batch_norm_backward),
    ROW_SCRATCH(graph_norm, "simd", f32, graph_norm),
    ROW_SCRATCH(graph_norm_backward, "simd", f32, graph_norm_backward),
    ROW_SCRATCH(attention, "flash", f32, attention),
    ROW_SCRATCH(attention_backward, "flash", f32, attention_backward),
    ROW_SCRATCH(attention_scores, "simd", f32, attention_scores),
    ROW_SCRATCH(attention_scores_backward, "simd", f32, attention_scores_backward),
    ROW_SCRATCH(attention_softmax, "simd", f32, attention_softmax),
    ROW_SCRATCH(attention_softmax_backward, "simd", f32, attention_softmax_backward),
    ROW_SCRATCH(attention_values, "simd", f32, attention_values),
    ROW_SCRATCH(attention_values_backward, "simd", f32, attention_values_backward),
    ROW_SCRATCH(sparse_attention, "simd", f32, sparse_attention),
    ROW_SCRATCH(sparse_attention_backward, "simd", f32, sparse_attention_backward),
    ROW(gcn_weights, "simd", f32, gcn_weights),
    ROW_SCRATCH(gatv2, "simd", f32, gatv2),
    ROW_SCRATCH(gatv2_backward, "simd", f32, gatv2_backward),
    ROW_SCRATCH(pna_pool, "simd", f32, pna_pool),
    ROW_SCRATCH(pna_pool_backward, "simd", f32, pna_pool_backward),
    ROW_SCRATCH(edge_mean, "simd", f32, edge_mean),
    ROW(edge_mean_backward, "simd", f32, edge_mean_backward),
    ROW_SCRATCH(edge_pool, "simd", f32, edge_pool),
    ROW_SCRATCH(edge_pool_backward, "simd", f32, edge_pool_backward),
    ROW_SCRATCH(performer_keys, "simd", f32, performer_keys),
    ROW_SCRATCH(performer_keys_backward, "simd", f32, performer_keys_backward),
    ROW_SCRATCH(performer_attention, "simd", f32, performer_attention),
    ROW_SCRATCH(performer_attention_backward, "simd", f32, performer_attention_backward),
    ROW_SCRATCH(spmm, "simd", f32, spmm),
    ROW_SCRATCH(spmm_backward, "simd", f32, spmm_backward),
    ROW_SCRATCH(gine, "simd", f32, gine),
    ROW_SCRATCH(gine_backward, "simd", f32, gine_backward),
    ROW(edge_distance, "simd", f32, edge_distance),
    ROW_SCRATCH(edge_distance_backward, "simd", f32, edge_distance_backward),
    ROW(edge_add, "simd", f32, edge_add),
    ROW_SCRATCH(edge_add_backward, "simd", f32, edge_add_backward),
    ROW_SCRATCH(gated_mean, "simd", f32, gated_mean),
    ROW_SCRATCH(gated_mean_backward, "simd", f32, gated_mean_backward),
    ROW(embedding, "simd", f32, embedding),
    ROW_SCRATCH(embedding_backward, "simd", f32, embedding_backward),
    ROW(l2_norm, "simd", f32, l2_norm),
    ROW(l2_norm_backward, "simd", f32, l2_norm_backward),
    ROW(row_dot, "simd", f32, row_dot),
    ROW(row_dot_backward, "simd", f32, row_dot_backward),
    ROW_SCRATCH(walk_returns, "simd", f32, walk_returns),
    ROW_SCRATCH(walk_returns_half, "simd", f32, walk_returns_half),
    ROW_SCRATCH(heat_diagonal, "simd", f32, heat_diagonal),
    /* The type of its operands is fixed, so that of the row is irrelevant. */
    ROW_SCRATCH(hops, "simd", f32, hops),
    ROW_SCRATCH(chebyshev, "simd", f32, chebyshev),
    ROW_SCRATCH(gram, "simd", f32, gram),
    ROW(add, "simd", f32, add),
    ROW(copy, "simd", f32, copy),
    ROW(fill, "simd", f32, fill),
    ROW(dropout, "simd", f32, dropout),
    ROW(dropout_backward, "simd", f32, dropout_backward),
    ROW(scale_rows, "simd", f32, scale_rows),
    ROW(scale_rows_backward, "simd", f32, scale_rows_backward),
    ROW(activate, "simd", f32, activate),
    ROW(activate_backward, "simd", f32, activate_backward),
    ROW_SCRATCH(count_largest, "simd", f32, count_largest),
    ROW_SCRATCH(share_largest, "simd", f32, share_largest),
    ROW_SCRATCH(norm_sums, "simd", f32, norm_sums),
    ROW_SCRATCH(norm_by_sums, "simd", f32, norm_by_sums),
    ROW_SCRATCH(norm_gradient_sums, "simd", f32, norm_gradient_sums),
    ROW_SCRATCH(norm_gradient, "simd", f32, norm_gradient),
    ROW_SCRATCH(mean_pool, "simd", f32, mean_pool),
    ROW(mean_pool_backward, "simd", f32, mean_pool_backward),
    ROW_SCRATCH(sum_pool, "simd", f32, sum_pool),
    ROW(sum_pool_backward, "simd", f32, sum_pool_backward),
    ROW_SCRATCH(max_pool, "simd", f32, max_pool),
    ROW_SCRATCH(max_pool_backward, "simd", f32, max_pool_backward),
    ROW_SCRATCH(mean_error, "simd", f32, mean_error),
    ROW(mean_error_backward, "simd", f32, mean_error_backward),
    ROW_SCRATCH(cross_entropy, "simd", f32, cross_entropy),
    ROW(cross_entropy_backward, "simd", f32, cross_entropy_backward),
    ROW_SCRATCH(binary_cross_entropy, "simd", f32, binary_cross_entropy),
    ROW(binary_cross_entropy_backward, "simd", f32, binary_cross_entropy_backward),
    ROW(adamw, "simd", f32, adamw),
    ROW(uniform, "simd", f32, uniform),
    ROW(cast, "simd", bf16, cast),
    /* The type of its operands is fixed, so that of the row is irrelevant. */
    ROW(uniform_index, "simd", f32, uniform_index),
};

static const unsigned char needs[] = {INSTRUCTIONS(INSTRUCTIONS_NEED)};

const struct backend CPU(backend) = {
    .name = "cpu-" TEXT(ISA),
    .doc = "OpenMP and SIMD, compiled for " TEXT(ISA),
    .kernels = kernels,
    .count = sizeof kernels / sizeof *kernels,
    .base = &backend_ref,
    .needs = needs,
};
