/*
 * The type of call.context on CUDA. The library handles use `stream`, read scalars from the host
 * (CUBLAS_POINTER_MODE_HOST), compute in f32 without TF32 (CUBLAS_DEFAULT_MATH) and without atomics
 * (CUBLAS_ATOMICS_NOT_ALLOWED); `blas` has a preallocated workspace (cublasSetWorkspace), because nothing may
 * be allocated during stream capture.
 */
#ifndef GTMARK_KERNELS_CUDA_CONTEXT_H
#define GTMARK_KERNELS_CUDA_CONTEXT_H

#include <stdbool.h>

#include "kernels/fault.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
/* In C, its deprecated names cause warnings at every use, including in its own declarations. */
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

/* A matrix prepared for cuSPARSE in the scratch buffer at this address (spmm_cusparse.cu). */
struct cuda_csr {
    const void *scratch;
    cusparseConstSpMatDescr_t matrix;
    struct cuda_csr *next;
};

struct cuda_context {
    cudaStream_t stream;
    cublasHandle_t blas;
    cublasLtHandle_t blas_lt;
    cusparseHandle_t sparse;
    int device, multiprocessors;
    bool loads;                /* launchers load the code of their kernels and launch nothing */
    bool captures;             /* what is launched becomes a graph */
    struct fault fault;        /* after one nothing more is launched */
    struct cuda_csr *matrices; /* a list, freed with the context */
};

/* Whether library calls are left out. */
static inline bool cuda_is_idle(const struct cuda_context *c)
{
    return c->loads || c->fault.kind;
}

#endif
