/*
 * Attention over edges with the scores of GATv2 (gatv2.cuh), as in ref/gatv2.c:
 *
 *   y_i = b + sum exp(s_e) l_j / sum exp(s_e)    lse_i = log sum exp(s_e)
 *
 * over the edges from others and one loop, in shares of equal work, with the online softmax of math.h. The
 * part with a row's beginning has its loop.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gatv2.cuh"

namespace
{
struct attend_work {
    struct leaky_work in;
    struct mat y, lse, b;
};

/* sums: the largest score, the sum of 2^(score - largest), and this lane's part of the weighted sum of l. */
template <int V, int ITEMS, class> struct leaky_attend {
    enum { TOP, SUM, VALUES, SUMS = VALUES + V * ITEMS, UNROLL = edges_at_once<ITEMS>::VALUE };
    struct state {
        float sums[SUMS];
        slice<V, ITEMS> r, att;
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
    __device__ void begin(state &s, const struct team &t, int64_t row, bool first) const
    {
        struct head_place p = place_of(h, t);
        s.row = row;
        s.r = load_slice<V, ITEMS>(h, p, w.in.r, row);
        s.att = load_slice<V, ITEMS>(h, p, w.in.att, 0);
        if (!first)
            return;
        const struct leaky_edge loop = {row, row, row, w.in.loop};
        slice<V, ITEMS> own = load_slice<V, ITEMS>(h, p, w.in.l, row);
        s.sums[TOP] = leaky_score(h, t, p, w.in, leaky_slice(h, p, s.r, own, loop), s.att, loop);
        s.sums[SUM] = softmax_weight(s.sums[TOP], s.sums[TOP]); /* 1, or NaN */
        add_slice(s.sums + VALUES, s.sums[SUM], own);
    }
    static __device__ void raise(state &s, float top)
    {
        float weight = softmax_weight(s.sums[TOP], top);
        s.sums[TOP] = top;
#pragma unroll
        for (int n = SUM; n < SUMS; n++)
            s.sums[n] *= weight;
    }
    __device__ void add(state &s, const struct team &t, int64_t first, const int64_t ends[UNROLL],
                        int count) const
    {
        struct head_place p = place_of(h, t);
        slice<V, ITEMS> values[UNROLL];
        float scores[UNROLL], top = s.sums[TOP];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const struct leaky_edge e = {s.row, ends[u], first + min_of(u, count - 1), w.in.c};
            values[u] = load_slice<V, ITEMS>(h, p, w.in.l, ends[u]);
            scores[u] = leaky_score(h, t, p, w.in, leaky_slice(h, p, s.r, values[u], e), s.att, e);
            bool counts = u < count && ends[u] != s.row;
            scores[u] = counts ? scores[u] : -INFINITY;
            top = softmax_top(top, scores[u]);
        }
        raise(s, top);
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            float weight = softmax_weight(scores[u], top);
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
        slice<V, ITEMS> bias = load_slice<V, ITEMS>(h, p, w.b, 0);
        float y[V * ITEMS];
#pragma unroll
        for (int n = 0; n < V * ITEMS; n++)
            y[n] = s.sums[VALUES + n] / s.sums[SUM] + bias.at[n / V].at[n % V];
        put_slice<V, ITEMS>(h, p, w.y, row, y, 1);
        if (present(w.lse) && p.active && p.first == 0)
            *double_entry(w.lse, row, p.head) = softmax_lse(s.sums[TOP], s.sums[SUM]);
    }
};

int64_t attend_bytes(const struct gatv2_args *a, int width)
{
    struct heads h = heads_of(a->y.cols, a->heads, width);
    return cut_rows_bytes(heads_plan(h, a->adj.row, a->adj.col), 2 + h.items * width);
}
} // namespace

extern "C" void cuda_gatv2(const void *args)
{
    const struct gatv2_args *a = (const struct gatv2_args *)args;
    const struct mat all[] = {a->y, a->l, a->r, a->att, a->b, a->c, a->loop};
    const struct attend_work w = {{a->l, a->r, a->att, a->c, a->loop, (float)a->slope}, a->y, a->lse, a->b};
    struct heads h = heads_of(a->y.cols, a->heads, head_width(a->y.cols / a->heads, all, 7));
    CUDA_CHECK(a->call, run_heads<leaky_attend>(a->call, w, h, received(a->adj), 0));
}

extern "C" int64_t cuda_gatv2_scratch(const void *args)
{
    const struct gatv2_args *a = (const struct gatv2_args *)args;
    return max_of(attend_bytes(a, WIDE), attend_bytes(a, 1));
}
