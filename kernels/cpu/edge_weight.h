/* Weights of edges, w = 1 / (1 + exp(-g)), g: E x 1, in the sums of GINE and GatedGCN. */
#ifndef GTMARK_KERNELS_CPU_EDGE_WEIGHT_H
#define GTMARK_KERNELS_CPU_EDGE_WEIGHT_H

#include "kernels/cpu/edge_sums.h"
#include "kernels/cpu/vector_math.h"

static inline float edge_weight(struct mat g, int64_t e)
{
    return vm_logistic(*row_of(g, e));
}

/* dg_e (+)= w (1 - w) dw */
static inline void edge_weight_gradient(struct mat dg, int64_t e, float w, float dw)
{
    float *to = row_of(dg, e);
    *to = (dg.acc ? *to : 0) + w * (1 - w) * dw;
}

#endif
