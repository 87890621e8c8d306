/* Multi-head attention over the edges of a graph, as in ref/sparse_attention.c. */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/sparse_attention.cuh"

extern "C" void cuda_sparse_attention(const void *args)
{
    const struct sparse_attention_args *a = (const struct sparse_attention_args *)args;
    const struct mat all[] = {a->y, a->q, a->k, a->v, a->c};
    int64_t D = a->y.cols;
    struct heads h = heads_of(D, a->heads, head_width(D / a->heads, all, 5));
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   using T = decltype(zero);
                   if (mat_present(a->c))
                       return run_heads<attend, T>(a->call, edge_dot_scores_of(a, a->eps), h,
                                                   received(a->adj), 0);
                   return run_heads<attend, T>(a->call, dot_scores_of(a), h, received(a->adj), 0);
               }));
}

extern "C" int64_t cuda_sparse_attention_scratch(const void *args)
{
    return attend_bytes((const struct sparse_attention_args *)args);
}
