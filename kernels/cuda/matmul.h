/*
 * Row-major matrix products with cuBLASLt, which is column-major. A row-major R x C matrix read as
 * column-major is its transpose, C x R with the same ld. For c = op(a) op(b) the library therefore computes
 * c' = op(b)' op(a)': the operands are swapped, and keep their transpose flags, because what is stored is
 * already transposed. For the linear layer:
 *
 *   y = x w'     a = x, b = w transposed: the library's first operand is w, transposed, the second x
 *   dx = dz w    a = dz, b = w
 *   dw = dz' x   a = dz transposed, b = x
 *
 * A bias per column of c is one per row of c', which the BIAS epilogue adds. The sums of dz over its rows are
 * those of the second operand over the product's depth, which the BGRADB epilogue stores. Both have the type
 * of c ("Bias gradient vector elements are the same type as the output elements", cublasLt.h).
 *
 * Operands are F32, or BF16 with c in BF16 or F32. Sums are F32 ("cublasLtMatmul()", the table of types).
 *
 * Of the algorithms that the library's heuristic names the fastest is taken (choice.h), so it depends on
 * shapes, alignment, device, and on times: two runs of a program may have different bits, as far apart as
 * sums of the same terms in another order are; within a run they are the same. Algorithms that accumulate in
 * place in the output, or round partial sums, are excluded; with split-K they write partial sums to a
 * workspace and reduce them in a second step. A c in BF16 to which an epilogue adds a bias has none with
 * split-K: the manual does not say that the reduction adds the bias before it rounds.
 *
 * dw has few tiles and a great depth. If no algorithm splits that, a batch of products of parts of the depth,
 * whose results in the workspace a kernel adds in order, is one more way.
 *
 * A result of one row or column that the library refuses is computed by a kernel of ours.
 */
#ifndef GTMARK_KERNELS_CUDA_MATMUL_H
#define GTMARK_KERNELS_CUDA_MATMUL_H

#include "kernels/cuda/choice.h"

enum { BIAS_ALIGNMENT = 16 /* bytes, for epilogues */ };

struct matmul {
    struct mat c, a, b; /* c = op(a) op(b), or += if c is accumulated */
    bool a_transposed, b_transposed;
    bool tf32;
    cublasLtEpilogue_t epilogue;
    void *bias; /* 1 x columns of c, for an epilogue with one */
};

/*
 * Whether the library computes it with this epilogue: it calls it "not supported", or an invalid value, where
 * it does not. Without an epilogue an invalid value is a fault of ours.
 */
cuda_status matmul_fuses(const struct call &call, const struct matmul *m, bool *fuses);

/* Queues the product. A fault if there is no algorithm. */
cuda_status matmul(const struct call &call, const struct matmul *m);

#endif
