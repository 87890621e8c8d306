/*
 * Backward of attention over the edges of a graph (edge_slopes.cuh):
 *
 *   dq_i (+)= sum of ds_e k_j / sqrt(D / H) over the edges to i
 *   dk_j (+)= sum of ds_e q_i / sqrt(D / H), dv_j (+)= sum of p dy_i over the edges from j
 *
 * With edges k_j * c_e and q_i * c_e in place of k_j and q_i, and dc_e (+)= ds_e q_i * k_j / sqrt(D / H).
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_slopes.cuh"
#include "kernels/cuda/sparse_attention.cuh"

namespace
{
struct dot_slopes : dot_scores, edge_gradients {
    float scale; /* 1 / sqrt(D / H) */
    enum { RECEIVED = 1, SENT = 2, SLICES = 1 };

    template <class L>
    __device__ void receive(const L &at, const slices<L> &s, float p, float slope, float *sums) const
    {
        at.add(sums, p * (slope * scale), s.k);
    }
    template <class L>
    __device__ void send(const L &at, const slices<L> &s, float p, float slope, float *sums) const
    {
        at.add(sums, p * slope * scale, s.q);
        at.add(sums + L::ENTRIES, p, s.dy);
    }
};

struct edge_dot_slopes : edge_dot_scores, edge_gradients {
    struct mat dc;
    enum { RECEIVED = 1, SENT = 2, SLICES = 2 };

    template <class L>
    __device__ void receive(const L &at, const slices<L> &s, float p, float slope, float *sums) const
    {
        float ds = p * (slope * power), g[L::ENTRIES] = {};
        at.add(sums, ds, s.k, s.c);
        at.add(g, ds, s.q, s.k);
        if (s.counts)
            at.put(dc, s.e, g, 1);
    }
    template <class L>
    __device__ void send(const L &at, const slices<L> &s, float p, float slope, float *sums) const
    {
        at.add(sums, p * (slope * power), s.q, s.c);
        at.add(sums + L::ENTRIES, p, s.dy);
    }
};
} // namespace

extern "C" void cuda_sparse_attention_backward(const void *args)
{
    const struct sparse_attention_backward_args *a = (const struct sparse_attention_backward_args *)args;
    const struct mat all[] = {a->dq, a->dk, a->dv, a->dy, a->y, a->q, a->k, a->v, a->c, a->dc};
    int64_t D = a->y.cols, size = D / a->heads;
    struct mat saved = scratch_mat(a->call, 0, a->y.rows, a->heads * SAVED);
    const int32_t *number = (const int32_t *)a->adj.out_edge.data;
    const struct edge_gradients to = {a->dy, saved, {a->dq}, {a->dk, a->dv}, number, a->adj.out_edge.ld};
    const float scale = (float)(1 / sqrt((double)size));
    struct heads h = heads_of(D, a->heads, head_width(size, all, 10));
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   using T = decltype(zero);
                   if (!mat_present(a->c))
                       return run_slopes<T>(a, dot_slopes{dot_scores_of(a), to, scale}, h, saved_bytes(a));
                   const struct edge_dot_slopes w = {edge_dot_scores_of(a, 0), to, a->dc};
                   return run_slopes<T>(a, w, h, saved_bytes(a));
               }));
}

extern "C" int64_t cuda_sparse_attention_backward_scratch(const void *args)
{
    const struct sparse_attention_backward_args *a = (const struct sparse_attention_backward_args *)args;
    return saved_bytes(a) + slopes_bytes<dot_slopes>(a);
}
