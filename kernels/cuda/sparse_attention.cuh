/* Scores of attention over edges: s_e = q_i . k_j / sqrt(D / H) for each head. q, k: N x D. */
#ifndef GTMARK_KERNELS_CUDA_SPARSE_ATTENTION_CUH
#define GTMARK_KERNELS_CUDA_SPARSE_ATTENTION_CUH

#include "kernels/cuda/edge_softmax.cuh"

struct dot_scores : edge_scores {
    struct mat q, k;
    enum { LOOPS = 0 };

    template <class L> struct slices : edge_slices<L> {
        typename L::slice q, k;
    };
    template <class L> __device__ void load_receiver(const L &at, slices<L> &s) const
    {
        s.q = at.load(q, s.i);
    }
    template <class L> __device__ void load_sender(const L &at, slices<L> &s) const
    {
        s.k = at.load(k, s.j);
        s.v = at.load(v, s.j);
    }
    template <class L> __device__ float product(const L &at, const slices<L> &s) const
    {
        return at.product(s.q, q, s.i, s.k, k, s.j);
    }
    /* Without edges 0. */
    template <class L> __device__ void put_row(const L &at, int64_t row, const float *values, float sum) const
    {
        at.put(y, row, values, sum != 0 ? 1 / sum : 0);
    }
};

template <class Args> static struct dot_scores dot_scores_of(const Args *a)
{
    return {{a->v, a->y, a->lse, (float)(M_LOG2E / sqrt((double)(a->y.cols / a->heads)))}, a->q, a->k};
}

#endif
