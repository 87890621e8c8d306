/* What follows the product of a linear layer, while a strip of it is in the first-level cache. */
#ifndef GTMARK_KERNELS_CPU_FINISH_H
#define GTMARK_KERNELS_CPU_FINISH_H

#include "kernels/cpu/activation.h"
#include "kernels/cpu/gemm.h"

enum {
    STRIP = 32, /* columns for which a task's rows stay in the first-level cache */
    PANEL = GEMM_COLS > STRIP ? GEMM_COLS : STRIP
};

/* y = act(z) on one strip of a block; z and y may be the same. */
static inline __attribute__((always_inline)) void finish(int act, int64_t rows, int64_t cols, struct mat z,
                                                         struct mat y)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *from = row_of(z, i);
        float *to = row_of(y, i);
#pragma omp simd
        for (int64_t j = 0; j < cols; j++)
            to[j] = activation(act, from[j]);
    }
}

static inline void finish_strip(int act, int64_t rows, int64_t cols, struct mat z, struct mat y)
{
    switch (act) {
    case ACT_GELU:
        finish(ACT_GELU, rows, cols, z, y);
        break;
    case ACT_GELU_TANH:
        finish(ACT_GELU_TANH, rows, cols, z, y);
        break;
    case ACT_RELU:
        finish(ACT_RELU, rows, cols, z, y);
        break;
    default:
        finish(ACT_NONE, rows, cols, z, y);
    }
}

#endif
