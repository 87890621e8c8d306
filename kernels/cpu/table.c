/*
 * The rows of one instruction set; the first row of an op is its default.
 */
#include "kernels/cpu/cpu.h"

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

#define ROW(op, variant, run)                                                                                \
    {                                                                                                        \
        OP_##op, variant, F32, CPU(run), NULL                                                                \
    }
#define ROW_SCRATCH(op, variant, run)                                                                        \
    {                                                                                                        \
        OP_##op, variant, F32, CPU(run), CPU(run##_scratch)                                                  \
    }

static const struct kernel kernels[] = {
    ROW_SCRATCH(linear, "simd", linear),
    ROW_SCRATCH(linear_backward, "simd", linear_backward),
#if HAVE_CBLAS
    ROW(linear, "blas", linear_blas),
    ROW_SCRATCH(linear_backward, "blas", linear_backward_blas),
#endif
    ROW(layer_norm, "simd", layer_norm),
    ROW_SCRATCH(layer_norm_backward, "simd", layer_norm_backward),
    ROW(add_layer_norm, "simd", add_layer_norm),
    ROW_SCRATCH(batch_norm, "simd", batch_norm),
    ROW_SCRATCH(batch_norm_inference, "simd", batch_norm_inference),
    ROW_SCRATCH(batch_norm_backward, "simd", batch_norm_backward),
    ROW_SCRATCH(graph_norm, "simd", graph_norm),
    ROW_SCRATCH(graph_norm_backward, "simd", graph_norm_backward),
    ROW_SCRATCH(attention, "flash", attention),
    ROW_SCRATCH(attention_backward, "flash", attention_backward),
    ROW_SCRATCH(attention_scores, "simd", attention_scores),
    ROW_SCRATCH(attention_scores_backward, "simd", attention_scores_backward),
    ROW_SCRATCH(attention_softmax, "simd", attention_softmax),
    ROW_SCRATCH(attention_softmax_backward, "simd", attention_softmax_backward),
    ROW_SCRATCH(attention_values, "simd", attention_values),
    ROW_SCRATCH(attention_values_backward, "simd", attention_values_backward),
    ROW_SCRATCH(sparse_attention, "simd", sparse_attention),
    ROW_SCRATCH(sparse_attention_backward, "simd", sparse_attention_backward),
    ROW_SCRATCH(spmm, "simd", spmm),
    ROW_SCRATCH(spmm_backward, "simd", spmm_backward),
    ROW_SCRATCH(walk_returns, "simd", walk_returns),
    ROW_SCRATCH(walk_returns_half, "simd", walk_returns_half),
    ROW_SCRATCH(laplacian, "simd", laplacian),
    ROW_SCRATCH(gram, "simd", gram),
    ROW(add, "simd", add),
    ROW(copy, "simd", copy),
    ROW(fill, "simd", fill),
    ROW_SCRATCH(mean_pool, "simd", mean_pool),
    ROW(mean_pool_backward, "simd", mean_pool_backward),
    ROW_SCRATCH(sum_pool, "simd", sum_pool),
    ROW(sum_pool_backward, "simd", sum_pool_backward),
    ROW_SCRATCH(max_pool, "simd", max_pool),
    ROW_SCRATCH(max_pool_backward, "simd", max_pool_backward),
    ROW_SCRATCH(mse, "simd", mse),
    ROW(mse_backward, "simd", mse_backward),
    ROW_SCRATCH(cross_entropy, "simd", cross_entropy),
    ROW(cross_entropy_backward, "simd", cross_entropy_backward),
    ROW(adamw, "simd", adamw),
    ROW(uniform, "simd", uniform),
    /* The types of its operands are fixed: a row of any other serves as well. */
    ROW(uniform_index, "simd", uniform_index),
};

const struct backend CPU(backend) = {
    .name = "cpu-" TEXT(ISA),
    .doc = "OpenMP and SIMD, compiled for " TEXT(ISA),
    .kernels = kernels,
    .count = sizeof kernels / sizeof *kernels,
    .base = &backend_ref,
};
