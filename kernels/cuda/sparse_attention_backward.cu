/*
 * Backward of attention over the edges of a graph (edge_slopes.cuh):
 *
 *   dq_i (+)= sum of ds_e k_j / sqrt(D / H) over the edges to i
 *   dk_j (+)= sum of ds_e q_i / sqrt(D / H), dv_j (+)= sum of p dy_i over the edges from j
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_slopes.cuh"
#include "kernels/cuda/sparse_attention.cuh"

namespace
{
struct dot_slopes : dot_scores, edge_gradients {
    float scale; /* 1 / sqrt(D / H) */
    enum { RECEIVED = 1, SENT = 2, MOST = HEAD_ITEMS };

    template <class L> __device__ float delta(const L &at, const slices<L> &s) const
    {
        return at.product(s.dy, dy, s.i, at.load(y, s.i), y, s.i);
    }
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
} // namespace

extern "C" void cuda_sparse_attention_backward(const void *args)
{
    const struct sparse_attention_backward_args *a = (const struct sparse_attention_backward_args *)args;
    const struct mat all[] = {a->dq, a->dk, a->dv, a->dy, a->y, a->q, a->k, a->v};
    int64_t D = a->y.cols, size = D / a->heads;
    struct mat saved = scratch_mat(a->call, 0, a->y.rows, a->heads * SAVED);
    const struct dot_slopes w = {
        dot_scores_of(a), {a->dy, saved, {a->dq}, {a->dk, a->dv}, NULL, 0}, (float)(1 / sqrt((double)size))};
    struct heads h = heads_of(D, a->heads, head_width(size, all, 8));
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   return run_slopes<decltype(zero)>(a, w, h, saved_bytes(a));
               }));
}

extern "C" int64_t cuda_sparse_attention_backward_scratch(const void *args)
{
    const struct sparse_attention_backward_args *a = (const struct sparse_attention_backward_args *)args;
    return saved_bytes(a) + slopes_bytes<dot_slopes>(a);
}
