/*
 * Errors of the CUDA runtime and its libraries. The context keeps the first, nothing more is launched, and
 * `fault` (struct device) returns it: kernels and libraries load code and allocate on first use, drivers
 * refuse what others allow, and GPUs break. Operands are checked before a kernel runs; what they do not meet
 * is a programming error: one line, and abort.
 *
 * CUDA_CHECK(where, status) names the calling function: "linear" in cuda_linear. In C++ `where` is the op's
 * call and the status that of any library; in C they are the context and a cudaError_t.
 */
#ifndef GTMARK_KERNELS_CUDA_CHECK_H
#define GTMARK_KERNELS_CUDA_CHECK_H

#include "kernels/cuda/beside.h"
#include "kernels/cuda/context.h"
#include "kernels/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_CHECK(where, status) cuda_check(__func__, where, status)

/* Aborts with `message` unless the operands meet the condition. */
#define CUDA_REQUIRE(condition, message) ((condition) ? (void)0 : cuda_fail(__func__, message))

static inline const char *cuda_name(const char *function)
{
    static const char prefix[] = "cuda_";
    size_t skip = strncmp(function, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
    return function + skip;
}

static inline void cuda_fail(const char *function, const char *message)
{
    fprintf(stderr, "cuda: %s: %s\n", cuda_name(function), message);
    abort();
}

/* Errors that cannot be cleared leave the process without the device ("cudaErrorIllegalAddress" and others in
 * the CUDA runtime manual): later calls return them too. */
static inline bool cuda_is_lost(size_t *available)
{
    size_t total;
    cudaGetLastError();
    return cudaMemGetInfo(available, &total) != cudaSuccess || cudaGetLastError() != cudaSuccess;
}

static inline void cuda_fault(const char *function, void *context, const char *words, bool no_memory)
{
    struct fault *f = &((struct cuda_context *)context)->fault;
    size_t available = 0;
    bool lost = cuda_is_lost(&available);
    if (!f->kind) {
        f->kind = no_memory || available < CUDA_RESERVE ? FAULT_MEMORY : FAULT_FAILED;
        f->where = cuda_name(function);
        f->words = words;
    }
    if (lost)
        f->kind = FAULT_LOST;
}

static inline void cuda_check(const char *function, void *context, cudaError_t status)
{
    if (status != cudaSuccess)
        cuda_fault(function, context, cudaGetErrorString(status), status == cudaErrorMemoryAllocation);
}

#ifdef __cplusplus

/* The result of a launch or of a library call. */
struct [[nodiscard]] cuda_status {
    const char *fault; /* null: success */
    bool no_memory;

    cuda_status(cudaError_t s)
        : fault(s == cudaSuccess ? NULL : cudaGetErrorString(s)), no_memory(s == cudaErrorMemoryAllocation)
    {
    }
    cuda_status(cublasStatus_t s)
        : fault(s == CUBLAS_STATUS_SUCCESS ? NULL : cublasGetStatusString(s)),
          no_memory(s == CUBLAS_STATUS_ALLOC_FAILED)
    {
    }
    cuda_status(cusparseStatus_t s)
        : fault(s == CUSPARSE_STATUS_SUCCESS ? NULL : cusparseGetErrorString(s)),
          no_memory(s == CUSPARSE_STATUS_ALLOC_FAILED || s == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
    {
    }
};

static inline void cuda_check(const char *function, const struct call &call, struct cuda_status status)
{
    if (status.fault)
        cuda_fault(function, call.context, status.fault, status.no_memory);
}

#endif

#endif
