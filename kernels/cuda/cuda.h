/*
 * The launchers of kernels/cuda, for the table: cuda_<op>, its scratch bytes, if any, as cuda_<op>_scratch,
 * and variants as cuda_<op>_<variant>. The argument is the op's struct (kernels/ops.h) with data in device
 * memory and call.context a struct cuda_context. Launchers are asynchronous: work is queued on the context's
 * stream.
 */
#ifndef GTMARK_KERNELS_CUDA_CUDA_H
#define GTMARK_KERNELS_CUDA_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OP(name, doc)                                                                                        \
    void cuda_##name(const void *args);                                                                      \
    int64_t cuda_##name##_scratch(const void *args);
#include "kernels/ops_list.h"

/* Products in TF32: operands rounded to 10 mantissa bits, sums in f32. */
void cuda_linear_tf32(const void *args);
void cuda_linear_backward_tf32(const void *args);

/* On tensor cores: operands of products rounded to TF32 or bf16, or sums of two in TF32; all else in f32. */
void cuda_attention_tf32(const void *args);
void cuda_attention_backward_tf32(const void *args);
void cuda_attention_3xtf32(const void *args);
void cuda_attention_backward_3xtf32(const void *args);
void cuda_attention_bf16(const void *args);
void cuda_attention_backward_bf16(const void *args);

/*
 * Aggregation by cusparseSpMM, after `prepare` in the same scratch buffer. The scratch size includes the
 * library's buffer only if there is a context.
 */
void cuda_spmm_cusparse(const void *args);
int64_t cuda_spmm_cusparse_scratch(const void *args);
void cuda_spmm_cusparse_prepare(const void *args);
void cuda_spmm_backward_cusparse(const void *args);
int64_t cuda_spmm_backward_cusparse_scratch(const void *args);
void cuda_spmm_backward_cusparse_prepare(const void *args);

#ifdef __cplusplus
}
#endif

#endif
