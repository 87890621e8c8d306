/*
 * Backward of attention over the edges of a graph (sparse_attention.cu). For each head and edge j -> i:
 *
 *   p = exp(q_i . k_j / sqrt(D / H) - lse_i)    delta_i = dy_i . y_i
 *   ds = p (dy_i . v_j - delta_i) / sqrt(D / H)
 *   dq_i (+)= sum of ds k_j over the edges to i
 *   dk_j (+)= sum of ds q_i, dv_j (+)= sum of p dy_i over the edges from j
 *
 * Two passes recompute p, both in shares of equal work (edges.cuh): over the receivers i, which also stores
 * lse and delta in scratch, then over the senders j. Each sum is accumulated by the same lanes throughout.
 *
 * For large scores, as in attention_backward.cu, lse is not rounded, scores have the bits that they had in
 * the forward, and delta is summed like dy_i . v_j.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/heads.cuh"
#include "kernels/cuda/math.h"

namespace
{
struct slope_work {
    struct mat dq, dk, dv, dy, y, q, k, v, lse, saved; /* saved: N x 3 H, in scratch */
    float power, scale;                                /* log2(e) / sqrt(D / H); 1 / sqrt(D / H) */
};

/* What is saved of a head: lse to base 2, and delta. */
enum { HIGH, REST, DELTA, SAVED };

__device__ inline float saved_value(const struct mat &m, int64_t row, const struct head_place &p, int which)
{
    return p.active ? *entry(m, row, SAVED * p.head + which) : 0;
}

/* sums: dq */
template <int V, int ITEMS, class T> struct receive {
    enum { SUMS = V * ITEMS, UNROLL = edges_at_once<ITEMS>::VALUE };
    struct state {
        float sums[SUMS], delta;
        struct softmax_base lse;
        slice<V, ITEMS, T> q, dy;
        int64_t row;
    };
    struct slope_work w;
    struct heads h;

    __device__ void clear(state &s) const
    {
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] = 0;
    }
    __device__ void begin(state &s, const struct team &t, int64_t row, bool first) const
    {
        struct head_place p = place_of(h, t);
        slice<V, ITEMS, T> y = load_slice<V, ITEMS, T>(h, p, w.y, row);
        s.row = row;
        s.q = load_slice<V, ITEMS, T>(h, p, w.q, row);
        s.dy = load_slice<V, ITEMS, T>(h, p, w.dy, row);
        s.lse = softmax_base_of(p.active ? *double_entry(w.lse, row, p.head) : 0);
        s.delta = team_sum(t.mask, h.group, head_product(h, t, p, s.dy, w.dy, row, y, w.y, row));
        if (first && p.active && p.first == 0) {
            float *saved = entry(w.saved, row, SAVED * p.head);
            saved[HIGH] = s.lse.high;
            saved[REST] = s.lse.rest;
            saved[DELTA] = s.delta;
        }
    }
    __device__ void add(state &s, const struct team &t, int64_t, const int64_t ends[UNROLL], int count) const
    {
        struct head_place p = place_of(h, t);
        slice<V, ITEMS, T> keys[UNROLL];
        float scores[UNROLL], slopes[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            keys[u] = load_slice<V, ITEMS, T>(h, p, w.k, ends[u]);
            slice<V, ITEMS, T> value = load_slice<V, ITEMS, T>(h, p, w.v, ends[u]);
            scores[u] = head_product(h, t, p, s.q, w.q, s.row, keys[u], w.k, ends[u]);
            slopes[u] = head_product(h, t, p, s.dy, w.dy, s.row, value, w.v, ends[u]);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            float score = __fmul_rn(team_sum(t.mask, h.group, scores[u]), w.power);
            float slope = (team_sum(t.mask, h.group, slopes[u]) - s.delta) * w.scale;
            add_slice(s.sums, u < count ? softmax_share(score, s.lse) * slope : 0, keys[u]);
        }
    }
    __device__ void unite(state &s, const float sums[SUMS]) const
    {
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] += sums[n];
    }
    __device__ void finish(const state &s, const struct team &t, int64_t row) const
    {
        put_slice<V, ITEMS, T>(h, place_of(h, t), w.dq, row, s.sums, 1);
    }
};

/* sums: dk, then dv */
template <int V, int ITEMS, class T> struct send {
    enum {
        DK = 0,
        DV = V * ITEMS,
        SUMS = 2 * V * ITEMS,
        UNROLL = edges_at_once<ITEMS>::VALUE / (V > 4 ? 2 : 1)
    };
    struct state {
        float sums[SUMS];
        slice<V, ITEMS, T> k, v;
        int64_t row;
    };
    struct slope_work w;
    struct heads h;

    __device__ void clear(state &s) const
    {
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] = 0;
    }
    __device__ void begin(state &s, const struct team &t, int64_t row, bool) const
    {
        struct head_place p = place_of(h, t);
        s.row = row;
        s.k = load_slice<V, ITEMS, T>(h, p, w.k, row);
        s.v = load_slice<V, ITEMS, T>(h, p, w.v, row);
    }
    __device__ void add(state &s, const struct team &t, int64_t, const int64_t ends[UNROLL], int count) const
    {
        struct head_place p = place_of(h, t);
        slice<V, ITEMS, T> queries[UNROLL], slopes[UNROLL];
        float scores[UNROLL], products[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            queries[u] = load_slice<V, ITEMS, T>(h, p, w.q, ends[u]);
            slopes[u] = load_slice<V, ITEMS, T>(h, p, w.dy, ends[u]);
            scores[u] = head_product(h, t, p, queries[u], w.q, ends[u], s.k, w.k, s.row);
            products[u] = head_product(h, t, p, slopes[u], w.dy, ends[u], s.v, w.v, s.row);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            struct softmax_base lse = {saved_value(w.saved, ends[u], p, HIGH),
                                       saved_value(w.saved, ends[u], p, REST)};
            float score = __fmul_rn(team_sum(t.mask, h.group, scores[u]), w.power);
            float slope = team_sum(t.mask, h.group, products[u]) - saved_value(w.saved, ends[u], p, DELTA);
            float weight = u < count ? softmax_share(score, lse) : 0;
            add_slice(s.sums + DK, weight * slope * w.scale, queries[u]);
            add_slice(s.sums + DV, weight, slopes[u]);
        }
    }
    __device__ void unite(state &s, const float sums[SUMS]) const
    {
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] += sums[n];
    }
    __device__ void finish(const state &s, const struct team &t, int64_t row) const
    {
        struct head_place p = place_of(h, t);
        put_slice<V, ITEMS, T>(h, p, w.dk, row, s.sums + DK, 1);
        put_slice<V, ITEMS, T>(h, p, w.dv, row, s.sums + DV, 1);
    }
};

/* Scratch: what is saved of heads, then the split rows of the current pass. */
int64_t saved_bytes(const struct sparse_attention_backward_args *a)
{
    return scratch_bytes(a->y.rows * a->heads * SAVED, sizeof(float));
}

int64_t pass_bytes(const struct sparse_attention_backward_args *a, int width)
{
    struct heads h = heads_of(a->y.cols, a->heads, width);
    int sums = h.items * width;
    return max_of(cut_rows_bytes(heads_plan(h, a->adj.row, a->adj.col), sums),
                  cut_rows_bytes(heads_plan(h, a->adj.out_row, a->adj.out_col), 2 * sums));
}
} // namespace

extern "C" void cuda_sparse_attention_backward(const void *args)
{
    const struct sparse_attention_backward_args *a = (const struct sparse_attention_backward_args *)args;
    const struct mat all[] = {a->dq, a->dk, a->dv, a->dy, a->y, a->q, a->k, a->v};
    int64_t D = a->y.cols, size = D / a->heads, before = saved_bytes(a);
    struct mat saved = scratch_mat(a->call, 0, a->y.rows, a->heads * SAVED);
    const double root = sqrt((double)size);
    const struct slope_work w = {a->dq,
                                 a->dk,
                                 a->dv,
                                 a->dy,
                                 a->y,
                                 a->q,
                                 a->k,
                                 a->v,
                                 a->lse,
                                 saved,
                                 (float)(M_LOG2E / root),
                                 (float)(1 / root)};
    struct heads h = heads_of(D, a->heads, head_width(size, all, 8));
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   return run_heads<receive, decltype(zero)>(a->call, w, h, received(a->adj), before);
               }));
    CUDA_CHECK(a->call, by_type(a->y.dtype, [&](auto zero) {
                   return run_heads<send, decltype(zero)>(a->call, w, h, sent(a->adj), before);
               }));
}

extern "C" int64_t cuda_sparse_attention_backward_scratch(const void *args)
{
    const struct sparse_attention_backward_args *a = (const struct sparse_attention_backward_args *)args;
    return saved_bytes(a) + max_of(pass_bytes(a, load_width(a->y)), pass_bytes(a, 1));
}
