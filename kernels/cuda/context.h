/*
 * What call.context points to on CUDA. The library handles work on `stream`, take scalars from the host
 * (CUBLAS_POINTER_MODE_HOST), compute in f32 without TF32 (CUBLAS_DEFAULT_MATH) and without atomics
 * (CUBLAS_ATOMICS_NOT_ALLOWED), and `blas` has a workspace of its own (cublasSetWorkspace), so that nothing
 * is allocated while a stream is captured.
 */
#ifndef GTMARK_KERNELS_CUDA_CONTEXT_H
#define GTMARK_KERNELS_CUDA_CONTEXT_H

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
/* Its deprecated names warn in plain C wherever they occur, in its own declarations too. */
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

struct cuda_context {
    cudaStream_t stream;
    cublasHandle_t blas;
    cublasLtHandle_t blas_lt;
    cusparseHandle_t sparse;
    int device, multiprocessors;
};

#endif
