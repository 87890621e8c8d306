/*
 * The one place where kernels are launched: on the stream of the call's context, as planned. The status is
 * for CUDA_CHECK in the launcher, which knows the op's name.
 */
#ifndef GTMARK_KERNELS_CUDA_RUN_CUH
#define GTMARK_KERNELS_CUDA_RUN_CUH

#include "kernels/cuda/check.h"
#include "kernels/cuda/launch.h"
#include "kernels/ops.h"

template <class... Parameters, class... Arguments>
static cudaError_t run(const struct call &call, struct launch l, void (*kernel)(Parameters...),
                       const Arguments &...arguments)
{
    const struct cuda_context *context = (const struct cuda_context *)call.context;
    kernel<<<dim3(l.grid_x, l.grid_y), l.block, l.shared, context->stream>>>(arguments...);
    return cudaPeekAtLastError();
}

#endif
