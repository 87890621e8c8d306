/*
 * All kernels are launched here, on the stream of the call's context and as planned. The launcher, which
 * knows the op's name, passes the returned status to CUDA_CHECK.
 */
#ifndef GTMARK_KERNELS_CUDA_RUN_CUH
#define GTMARK_KERNELS_CUDA_RUN_CUH

#include "kernels/cuda/check.h"
#include "kernels/cuda/launch.h"
#include "kernels/ops.h"

/* `block` is the arrangement of the planned threads within a block. */
template <class... Parameters, class... Arguments>
static cudaError_t run_arranged(const struct call &call, struct launch l, dim3 block,
                                void (*kernel)(Parameters...), const Arguments &...arguments)
{
    const struct cuda_context *context = (const struct cuda_context *)call.context;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(l.grid_x, l.grid_y);
    config.blockDim = block;
    config.dynamicSmemBytes = l.shared;
    config.stream = context->stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <class... Parameters, class... Arguments>
static cudaError_t run(const struct call &call, struct launch l, void (*kernel)(Parameters...),
                       const Arguments &...arguments)
{
    return run_arranged(call, l, dim3(l.block), kernel, arguments...);
}

#endif
