/*
 * Errors of the CUDA runtime and its libraries. Operands are checked before a kernel runs, so a failure is a
 * programming error or a broken device: one line, and abort. The exception is lack of memory, since kernels
 * and libraries load code and allocate on first use: the context keeps the fault, nothing more is launched,
 * and `exhausted` (struct device) returns it.
 *
 * CUDA_CHECK(where, status) names the calling function: "cuda: linear: ..." in cuda_linear. In C++ `where` is
 * the op's call and the status that of any library; in C they are the context (null: none) and a cudaError_t.
 */
#ifndef GTMARK_KERNELS_CUDA_CHECK_H
#define GTMARK_KERNELS_CUDA_CHECK_H

#include "kernels/cuda/context.h"
#include "kernels/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bytes that are not offered to programs, for code and memory that libraries take on first use. They do not
 * always report its lack as such, so with less than this free, any failure counts as lack of memory.
 */
enum { CUDA_RESERVE = 256 << 20 };

#define CUDA_CHECK(where, status) cuda_check(__func__, where, status)

/* Aborts with `message` unless the operands meet the condition. */
#define CUDA_REQUIRE(condition, message) ((condition) ? (void)0 : cuda_fail(__func__, message))

static inline void cuda_fail(const char *function, const char *message)
{
    static const char prefix[] = "cuda_";
    size_t skip = strncmp(function, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
    fprintf(stderr, "cuda: %s: %s\n", function + skip, message);
    abort();
}

static inline void cuda_fault(const char *function, void *context, const char *fault, bool no_memory)
{
    struct cuda_context *c = (struct cuda_context *)context;
    size_t available = 0, total;
    bool working = cudaMemGetInfo(&available, &total) == cudaSuccess;
    if (!c || !working || !(no_memory || available < CUDA_RESERVE))
        cuda_fail(function, fault);
    cudaGetLastError(); /* clears it for later checks */
    if (!c->fault)
        c->fault = fault;
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
