/*
 * Multi-head attention over the edges of a graph. Row i attends to the rows j of its edges j -> i:
 *
 *   s_e = q_i . k_j / sqrt(D / H)    y_i = sum exp(s_e) v_j / sum exp(s_e)    lse_i = log sum exp(s_e)
 *
 * for each head; without edges y = lse = 0. q, k, v, y: N x D, lse: N x H.
 *
 * A team of lanes processes a row's edges, all heads of a tile at once, with the online softmax of math.h:
 * scores are exponents of 2, and sums are rescaled whenever a larger score occurs. For shares of equal work,
 * split rows and hubs see edges.cuh; parts are combined by the same online step.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/heads.cuh"
#include "kernels/cuda/math.h"

namespace
{
struct attend_work {
    struct mat y, lse, q, k, v;
    float scale; /* log2(e) / sqrt(D / H) */
};

/* sums: the largest score, the sum of 2^(score - largest), and this lane's part of the weighted sum of v. */
template <int V, int ITEMS, class T> struct attend {
    enum { TOP, SUM, VALUES, SUMS = VALUES + V * ITEMS, UNROLL = edges_at_once<ITEMS>::VALUE };
    struct state {
        float sums[SUMS];
        slice<V, ITEMS, T> q;
        int64_t row;
    };
    struct attend_work w;
    struct heads h;

    __device__ void clear(state &s) const
    {
        s.sums[TOP] = -INFINITY;
#pragma unroll
        for (int n = SUM; n < SUMS; n++)
            s.sums[n] = 0;
    }
    __device__ void begin(state &s, const struct team &t, int64_t row, bool) const
    {
        s.row = row;
        s.q = load_slice<V, ITEMS, T>(h, place_of(h, t), w.q, row);
    }
    /* Rescales the sums to the largest score `top`. */
    static __device__ void raise(state &s, float top)
    {
        float weight = softmax_weight(s.sums[TOP], top);
        s.sums[TOP] = top;
#pragma unroll
        for (int n = SUM; n < SUMS; n++)
            s.sums[n] *= weight;
    }
    __device__ void add(state &s, const struct team &t, int64_t, const int64_t ends[UNROLL], int count) const
    {
        struct head_place p = place_of(h, t);
        slice<V, ITEMS, T> values[UNROLL];
        float scores[UNROLL], top = s.sums[TOP];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            slice<V, ITEMS, T> key = load_slice<V, ITEMS, T>(h, p, w.k, ends[u]);
            values[u] = load_slice<V, ITEMS, T>(h, p, w.v, ends[u]);
            scores[u] = head_product(h, t, p, s.q, w.q, s.row, key, w.k, ends[u]);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            scores[u] = __fmul_rn(team_sum(t.mask, h.group, scores[u]), w.scale);
            top = u < count ? softmax_top(top, scores[u]) : top;
        }
        raise(s, top);
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            float weight = u < count ? exp2f(scores[u] - top) : 0;
            s.sums[SUM] += weight;
            add_slice(s.sums + VALUES, weight, values[u]);
        }
    }
    __device__ void unite(state &s, const float sums[SUMS]) const
    {
        float top = softmax_top(s.sums[TOP], sums[TOP]), weight = softmax_weight(sums[TOP], top);
        raise(s, top);
#pragma unroll
        for (int n = SUM; n < SUMS; n++)
            s.sums[n] += weight * sums[n];
    }
    __device__ void finish(const state &s, const struct team &t, int64_t row) const
    {
        struct head_place p = place_of(h, t);
        bool any = s.sums[SUM] != 0;
        put_slice<V, ITEMS, T>(h, p, w.y, row, s.sums + VALUES, any ? 1 / s.sums[SUM] : 0);
        if (present(w.lse) && p.active && p.first == 0)
            *double_entry(w.lse, row, p.head) = any ? softmax_lse(s.sums[TOP], s.sums[SUM]) : 0;
    }
};

int64_t attend_bytes(const struct sparse_attention_args *a, int width)
{
    struct heads h = heads_of(a->y.cols, a->heads, width);
    return cut_rows_bytes(heads_plan(h, a->adj.row, a->adj.col), 2 + h.items * width);
}
} // namespace

extern "C" void cuda_sparse_attention(const void *args)
{
    const struct sparse_attention_args *a = (const struct sparse_attention_args *)args;
    const struct mat all[] = {a->y, a->q, a->k, a->v};
    int64_t D = a->y.cols, size = D / a->heads;
    const struct attend_work w = {a->y, a->lse, a->q, a->k, a->v, (float)(M_LOG2E / sqrt((double)size))};
    struct heads h = heads_of(D, a->heads, head_width(size, all, 4));
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   return run_heads<attend, decltype(zero)>(a->call, w, h, received(a->adj), 0);
               }));
}

extern "C" int64_t cuda_sparse_attention_scratch(const void *args)
{
    const struct sparse_attention_args *a = (const struct sparse_attention_args *)args;
    return max_of(attend_bytes(a, load_width(a->y)), attend_bytes(a, 1));
}
