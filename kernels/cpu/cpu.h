/*
 * What the files of kernels/cpu share. They are compiled once for each instruction set, with ISA naming it,
 * so every symbol with external linkage is declared through CPU(name), and headers hold static functions
 * only: a function that the linker merged between instruction sets could run on a processor that lacks its
 * own.
 *
 * Results never depend on call.threads: work is cut into tasks by shape alone, each task is serial, and
 * partial sums are added in the order of the tasks. Scratch is declared by a function beside each kernel;
 * what belongs to a thread stands behind what is shared.
 */
#ifndef GTMARK_KERNELS_CPU_CPU_H
#define GTMARK_KERNELS_CPU_CPU_H

#include "kernels/arithmetic.h"
#include "kernels/backend.h"

#define CPU_PASTE(isa, name)  cpu_##isa##_##name
#define CPU_EXPAND(isa, name) CPU_PASTE(isa, name)
#define CPU(name)             CPU_EXPAND(ISA, name)

extern const struct backend CPU(backend);

void CPU(linear)(const void *args);
void CPU(linear_blas)(const void *args);
void CPU(linear_backward)(const void *args);
void CPU(linear_backward_blas)(const void *args);
void CPU(layer_norm)(const void *args);
void CPU(layer_norm_backward)(const void *args);
void CPU(add_layer_norm)(const void *args);
void CPU(batch_norm)(const void *args);
void CPU(batch_norm_inference)(const void *args);
void CPU(batch_norm_backward)(const void *args);
void CPU(graph_norm)(const void *args);
void CPU(graph_norm_backward)(const void *args);
void CPU(attention)(const void *args);
void CPU(attention_backward)(const void *args);
void CPU(attention_scores)(const void *args);
void CPU(attention_scores_backward)(const void *args);
void CPU(attention_softmax)(const void *args);
void CPU(attention_softmax_backward)(const void *args);
void CPU(attention_values)(const void *args);
void CPU(attention_values_backward)(const void *args);
void CPU(sparse_attention)(const void *args);
void CPU(sparse_attention_backward)(const void *args);
void CPU(spmm)(const void *args);
void CPU(spmm_backward)(const void *args);
void CPU(walk_returns)(const void *args);
void CPU(walk_returns_half)(const void *args);
void CPU(laplacian)(const void *args);
void CPU(gram)(const void *args);
void CPU(add)(const void *args);
void CPU(copy)(const void *args);
void CPU(fill)(const void *args);
void CPU(mean_pool)(const void *args);
void CPU(mean_pool_backward)(const void *args);
void CPU(sum_pool)(const void *args);
void CPU(sum_pool_backward)(const void *args);
void CPU(max_pool)(const void *args);
void CPU(max_pool_backward)(const void *args);
void CPU(mse)(const void *args);
void CPU(mse_backward)(const void *args);
void CPU(cross_entropy)(const void *args);
void CPU(cross_entropy_backward)(const void *args);
void CPU(adamw)(const void *args);
void CPU(uniform)(const void *args);
void CPU(uniform_index)(const void *args);

/* Scratch bytes, for the rows that need any. */
int64_t CPU(linear_scratch)(const void *args);
int64_t CPU(linear_backward_scratch)(const void *args);
int64_t CPU(linear_backward_blas_scratch)(const void *args);
int64_t CPU(layer_norm_backward_scratch)(const void *args);
int64_t CPU(batch_norm_scratch)(const void *args);
int64_t CPU(batch_norm_inference_scratch)(const void *args);
int64_t CPU(batch_norm_backward_scratch)(const void *args);
int64_t CPU(graph_norm_scratch)(const void *args);
int64_t CPU(graph_norm_backward_scratch)(const void *args);
int64_t CPU(attention_scratch)(const void *args);
int64_t CPU(attention_backward_scratch)(const void *args);
int64_t CPU(attention_scores_scratch)(const void *args);
int64_t CPU(attention_scores_backward_scratch)(const void *args);
int64_t CPU(attention_softmax_scratch)(const void *args);
int64_t CPU(attention_softmax_backward_scratch)(const void *args);
int64_t CPU(attention_values_scratch)(const void *args);
int64_t CPU(attention_values_backward_scratch)(const void *args);
int64_t CPU(sparse_attention_scratch)(const void *args);
int64_t CPU(sparse_attention_backward_scratch)(const void *args);
int64_t CPU(spmm_scratch)(const void *args);
int64_t CPU(spmm_backward_scratch)(const void *args);
int64_t CPU(walk_returns_scratch)(const void *args);
int64_t CPU(walk_returns_half_scratch)(const void *args);
int64_t CPU(laplacian_scratch)(const void *args);
int64_t CPU(gram_scratch)(const void *args);
int64_t CPU(mean_pool_scratch)(const void *args);
int64_t CPU(sum_pool_scratch)(const void *args);
int64_t CPU(max_pool_scratch)(const void *args);
int64_t CPU(max_pool_backward_scratch)(const void *args);
int64_t CPU(mse_scratch)(const void *args);
int64_t CPU(cross_entropy_scratch)(const void *args);

/* Bytes of `count` floats, padded so that what follows begins on a cache line of its own. */
static inline int64_t float_bytes(int64_t count)
{
    return round_up(count * 4, 64);
}

/* The first element of row i. An absent matrix has no data and gives null, whatever i. */
static inline float *row_of(struct mat m, int64_t i)
{
    return m.data ? (float *)m.data + i * m.ld : NULL;
}

/* to (+)= the sum of `count` accumulators of n floats each, `stride` apart, added in order. */
static inline void add_accumulators(int64_t n, float *restrict to, bool acc, const float *restrict from,
                                    int64_t count, int64_t stride)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++)
        to[k] = (acc ? to[k] : 0) + from[k];
    for (int64_t c = 1; c < count; c++) {
#pragma omp simd
        for (int64_t k = 0; k < n; k++)
            to[k] += from[c * stride + k];
    }
}

/* Threads worth waking for `work` units when one thread does `grain` in a few times the cost of a fork. */
static inline int threads_for(const struct call *c, int64_t work, int64_t grain)
{
    return (int)max_of(1, min_of(c->threads, work / grain));
}

#endif
