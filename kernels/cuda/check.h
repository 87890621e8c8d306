/*
 * Error handling for the CUDA runtime and its libraries. Operands are checked before a kernel runs, so a
 * failure here is a programming error or a broken device: one line, and abort.
 *
 * CUDA_CHECK(expression) takes a status of the runtime, cuBLAS or cuSPARSE and names the calling function:
 * "cuda: linear: ..." in cuda_linear. After kernel launches: CUDA_CHECK(cudaPeekAtLastError()).
 */
#ifndef GTMARK_KERNELS_CUDA_CHECK_H
#define GTMARK_KERNELS_CUDA_CHECK_H

#include "kernels/cuda/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define CUDA_CHECK(expression) cuda_check(__func__, expression)
#else
/* clang-format off */
#define CUDA_CHECK(expression)                                                                               \
    _Generic((expression),                                                                                   \
             cudaError_t: cuda_check_runtime,                                                                \
             cublasStatus_t: cuda_check_blas,                                                                \
             cusparseStatus_t: cuda_check_sparse)(__func__, expression)
/* clang-format on */
#endif

/* Aborts with `message` unless the operands meet the condition. */
#define CUDA_REQUIRE(condition, message) ((condition) ? (void)0 : cuda_fail(__func__, message))

static inline void cuda_fail(const char *function, const char *message)
{
    static const char prefix[] = "cuda_";
    size_t skip = strncmp(function, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
    fprintf(stderr, "cuda: %s: %s\n", function + skip, message);
    abort();
}

static inline void cuda_check_runtime(const char *function, cudaError_t status)
{
    if (status != cudaSuccess)
        cuda_fail(function, cudaGetErrorString(status));
}

static inline void cuda_check_blas(const char *function, cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        cuda_fail(function, cublasGetStatusString(status));
}

static inline void cuda_check_sparse(const char *function, cusparseStatus_t status)
{
    if (status != CUSPARSE_STATUS_SUCCESS)
        cuda_fail(function, cusparseGetErrorString(status));
}

#ifdef __cplusplus

static inline void cuda_check(const char *function, cudaError_t status)
{
    cuda_check_runtime(function, status);
}

static inline void cuda_check(const char *function, cublasStatus_t status)
{
    cuda_check_blas(function, status);
}

static inline void cuda_check(const char *function, cusparseStatus_t status)
{
    cuda_check_sparse(function, status);
}

#endif

#endif
