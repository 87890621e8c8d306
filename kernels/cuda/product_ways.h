/* The ways to compute a product (matmul.h), which a choice is made from. */
#ifndef GTMARK_KERNELS_CUDA_PRODUCT_WAYS_H
#define GTMARK_KERNELS_CUDA_PRODUCT_WAYS_H

#include "kernels/cuda/matmul.h"

/* An algorithm of the library, for the product as a whole, or for a batch of this many parts of its depth. */
struct way {
    cublasLtMatmulAlgo_t algorithm;
    int64_t parts;
};

static inline int64_t product_depth(const struct matmul *m)
{
    return m->a_transposed ? m->a.rows : m->a.cols;
}

/* The alignment of a matrix and of its parts, up to the largest that the library distinguishes. */
uint32_t product_alignment(struct mat m, int64_t parts);

/* Parts into which the depth of dw may be divided; of other products that is not. */
int64_t product_divisor(const struct cuda_context *c, const struct matmul *m);

/* Adds the ways that the library's heuristic names, at most `most`. */
cublasStatus_t product_ask(const struct cuda_context *c, const struct matmul *m, int64_t parts, int most,
                           struct way *ways, int *count);

/* Queues the library's part of a way, and all of it. */
cublasStatus_t product_call(const struct cuda_context *c, const struct matmul *m, const struct way &w);
cuda_status product_queue(const struct call &call, const struct matmul *m, const struct way &w);

/* A result of one row or column, without an epilogue, by a kernel of ours. */
bool product_is_line(const struct matmul *m);
cuda_status product_line(const struct call &call, const struct matmul *m);

/* Loads our kernels that it may need. */
cuda_status product_load(const struct call &call, const struct matmul *m);

#endif
