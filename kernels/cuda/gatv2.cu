/* Attention over edges with the scores of GATv2 (gatv2.cuh), as in ref/gatv2.c. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gatv2.cuh"

extern "C" void cuda_gatv2(const void *args)
{
    const struct gatv2_args *a = (const struct gatv2_args *)args;
    const struct mat all[] = {a->y, a->l, a->r, a->att, a->b, a->c, a->loop};
    struct heads h = heads_of(a->y.cols, a->heads, head_width(a->y.cols / a->heads, all, 7));
    CUDA_CHECK(a->call, run_heads<attend>(a->call, leaky_scores_of(a), h, received(a->adj), 0));
}

extern "C" int64_t cuda_gatv2_scratch(const void *args)
{
    return attend_bytes((const struct gatv2_args *)args);
}
