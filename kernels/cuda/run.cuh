/*
 * All kernels are launched here, on the stream of the call's context and as planned. The launcher, which
 * knows the op's name, passes the returned status to CUDA_CHECK.
 */
#ifndef GTMARK_KERNELS_CUDA_RUN_CUH
#define GTMARK_KERNELS_CUDA_RUN_CUH

#include "kernels/cuda/check.h"
#include "kernels/cuda/plan.h"

static inline struct cuda_context *context_of(const struct call &call)
{
    return (struct cuda_context *)call.context;
}

enum { MUCH_SHARED = 16 << 10 };

/*
 * Reading its attributes loads a kernel ("Lazy loading", CUDA programming guide). If its blocks hold much
 * shared memory, it asks for all that a multiprocessor can have, so that this does not limit the blocks at a
 * time: a hint, which a device may refuse.
 */
static inline cuda_status load_kernel(const void *kernel)
{
    cudaFuncAttributes has;
    cudaError_t status = cudaFuncGetAttributes(&has, kernel);
    if (status == cudaSuccess && has.sharedSizeBytes >= MUCH_SHARED &&
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared) != cudaSuccess)
        cudaGetLastError(); /* clears it */
    return status;
}

template <class... Parameters, class... Arguments>
static cuda_status run(const struct call &call, struct launch l, void (*kernel)(Parameters...),
                       const Arguments &...arguments)
{
    const struct cuda_context *context = context_of(call);
    if (context->fault.kind)
        return cudaSuccess;
    if (context->loads)
        return load_kernel((const void *)kernel);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(l.grid_x, l.grid_y, l.grid_z);
    config.blockDim = dim3(l.block);
    config.dynamicSmemBytes = l.shared;
    config.stream = context->stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

#endif
