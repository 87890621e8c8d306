/*
 * Scores of GATv2 (ref/gatv2.c): s = att . leaky(x) for each head, x = r_i + l_j, and with edges + c_e, or
 * + loop_i of the loop that each node has before its edges.
 */
#ifndef GTMARK_KERNELS_CUDA_GATV2_CUH
#define GTMARK_KERNELS_CUDA_GATV2_CUH

#include "kernels/cuda/edge_softmax.cuh"

struct leaky_scores : edge_scores { /* v is l */
    struct mat r, att, b, c, loop;  /* c and loop may be absent */
    float slope;
    enum { LOOPS = 1 };

    template <class L> struct slices : edge_slices<L> {
        typename L::slice r, att, x;
    };
    template <class L> __device__ void load_shared(const L &at, slices<L> &s) const
    {
        s.att = at.load(att, 0);
    }
    template <class L> __device__ void load_receiver(const L &at, slices<L> &s) const
    {
        s.r = at.load(r, s.i);
    }
    template <class L> __device__ void load_sender(const L &at, slices<L> &s) const
    {
        s.v = at.load(v, s.j);
    }
    template <class L> __device__ void load_edge(const L &at, slices<L> &s) const
    {
        const struct mat &in = s.loop ? loop : c;
        typename L::slice more = {};
        if (present(in))
            more = at.load(in, s.e);
#pragma unroll
        for (int n = 0; n < L::ITEMS; n++)
            s.x.at[n] = s.r.at[n] + s.v.at[n] + more.at[n];
    }
    __device__ float leaky(float x) const
    {
        return fmaxf(x, slope * x);
    }
    template <int V> __device__ float leaky_product(vec<V> x, vec<V> by) const
    {
        float sum = 0;
#pragma unroll
        for (int n = 0; n < V; n++)
            sum += leaky(x.at[n]) * by.at[n];
        return sum;
    }
    template <class L> __device__ float product(const L &at, const slices<L> &s) const
    {
        const struct mat &in = s.loop ? loop : c;
        return at.sum([&](int n) { return leaky_product(s.x.at[n], s.att.at[n]); },
                      [&](int k) {
                          vec<L::V> x = at.load_vector(r, s.i, k) + at.load_vector(v, s.j, k);
                          if (present(in))
                              x = x + at.load_vector(in, s.e, k);
                          return leaky_product(x, at.load_vector(att, 0, k));
                      });
    }
    template <class L> __device__ void put_row(const L &at, int64_t row, const float *values, float sum) const
    {
        typename L::slice bias = at.load(b, 0);
        float all[L::ENTRIES];
#pragma unroll
        for (int n = 0; n < L::ENTRIES; n++)
            all[n] = values[n] / sum + bias.at[n / L::V].at[n % L::V];
        at.put(y, row, all, 1);
    }
};

template <class Args> static struct leaky_scores leaky_scores_of(const Args *a)
{
    return {{a->l, a->y, a->lse, LOG2E}, a->r, a->att, a->b, a->c, a->loop, (float)a->slope};
}

#endif
