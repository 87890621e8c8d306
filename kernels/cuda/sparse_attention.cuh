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

/*
 * With edges: s_e = sum of q_i k_j c_e / sqrt(D / H), clamped, and eps more in the denominator. c: E x D.
 * Sums are multiplied by `power` before they are clamped, so that ties are exact, and then become exponents
 * of 2.
 */
struct edge_dot_scores : dot_scores {
    struct mat c;
    float clamp, eps;

    template <class L> struct slices : dot_scores::slices<L> {
        typename L::slice c;
    };
    template <class L> __device__ void load_edge(const L &at, slices<L> &s) const
    {
        s.c = at.load(c, s.e);
    }
    template <class L> __device__ float product(const L &at, const slices<L> &s) const
    {
        return at.sum(
            [&](int n) { return sum_of(widened(s.q.at[n]) * widened(s.k.at[n]) * widened(s.c.at[n])); },
            [&](int n) {
                return sum_of(at.load_vector(q, s.i, n) * at.load_vector(k, s.j, n) *
                              at.load_vector(c, s.e, n));
            });
    }
    __device__ bool moves(float sum) const
    {
        return !(fabsf(__fmul_rn(sum, power)) > clamp);
    }
    __device__ float exponent(float sum) const
    {
        float score = __fmul_rn(sum, power);
        return __fmul_rn(moves(sum) ? score : score > 0 ? clamp : -clamp, LOG2E);
    }
    __device__ float denominator(float top, float sum) const
    {
        return sum != 0 ? sum + eps * exp2f(-top) : 0;
    }
};

template <class Args> static struct edge_dot_scores edge_dot_scores_of(const Args *a, double eps)
{
    struct dot_scores s = dot_scores_of(a);
    s.power = (float)(1 / sqrt((double)(a->y.cols / a->heads)));
    return {s, a->c, (float)a->clamp, (float)eps};
}

#endif
