/*
 * Attention over the edges of a graph, for each head, with the scores s_e of an op:
 *
 *   y_i = sum exp(s_e) v_j / sum exp(s_e)    lse_i = log sum exp(s_e)    e: j -> i
 *
 * v, y: N x D, lse: N x H. A team of lanes processes a row's edges, all heads of a tile at once, with the
 * online softmax of math.h: scores are exponents of 2, and sums are rescaled whenever a larger score occurs.
 * For shares of equal work, split rows and hubs see edges.cuh; parts are combined by the same online step.
 *
 * Scores is an edge_scores, and has
 *   LOOPS                     whether each node has a loop before its edges, and the graph's do not count
 *   slices<L>                 a lane's slices of an edge's rows, with edge_slices
 *   load_shared(lane, slices) reads those of all edges
 *   load_receiver             of i
 *   load_sender               of j
 *   load_edge                 of e, after the others
 *   product(lane, slices)     the lane's part of a sum over the head
 *   exponent(sum)             the score of that sum
 *   moves(sum)                whether it changes with the sum
 *   denominator(top, sum)     of the sum of all edges, 0 without edges
 *   put_row(lane, row, values, sum)
 */
#ifndef GTMARK_KERNELS_CUDA_EDGE_SOFTMAX_CUH
#define GTMARK_KERNELS_CUDA_EDGE_SOFTMAX_CUH

#include "kernels/cuda/heads.cuh"

struct edge_scores {
    struct mat v, y, lse;
    float power; /* of a sum to an exponent of 2 */

    template <class L, class Slices> __device__ void load_shared(const L &, Slices &) const
    {
    }
    template <class L, class Slices> __device__ void load_edge(const L &, Slices &) const
    {
    }
    template <class L, class Slices>
    __device__ float delta(const L &at, const Slices &s, const struct mat &dy) const
    {
        return at.product(s.dy, dy, s.i, at.load(y, s.i), y, s.i);
    }
    __device__ float denominator(float, float sum) const
    {
        return sum;
    }
    __device__ float exponent(float sum) const
    {
        return __fmul_rn(sum, power);
    }
    __device__ bool moves(float) const
    {
        return true;
    }
};

/* An edge, or the loop of a node; whether it is added; its slices of v_j, and in the backward dy_i. */
template <class L> struct edge_slices {
    int64_t i, j, e;
    bool loop, counts;
    typename L::slice v, dy;
};

/* sums: the largest score, the sum of 2^(score - largest), and this lane's part of the weighted sum of v. */
template <int V, int ITEMS, class T, class Scores> struct attend {
    using lane = head_lane<V, ITEMS, T>;
    using slices = typename Scores::template slices<lane>;
    enum { TOP, SUM, VALUES, SUMS = VALUES + V * ITEMS, UNROLL = edges_at_once<ITEMS>::VALUE };
    struct state {
        float sums[SUMS];
        slices own;
    };
    Scores w;
    struct heads h;

    __device__ void clear(state &s) const
    {
        s.sums[TOP] = -INFINITY;
#pragma unroll
        for (int n = SUM; n < SUMS; n++)
            s.sums[n] = 0;
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
    template <int COUNT> __device__ void add_edges(state &s, const lane &at, slices (&edges)[COUNT]) const
    {
        float scores[COUNT], top = s.sums[TOP];
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            w.load_sender(at, edges[u]);
            w.load_edge(at, edges[u]);
            scores[u] = w.product(at, edges[u]);
        }
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            scores[u] = w.exponent(at.total(scores[u]));
            top = edges[u].counts ? softmax_top(top, scores[u]) : top;
        }
        raise(s, top);
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            float weight = edges[u].counts ? exp2f(scores[u] - top) : 0;
            s.sums[SUM] += weight;
            at.add(s.sums + VALUES, weight, edges[u].v);
        }
    }
    __device__ void begin(state &s, const struct team &t, int64_t row, bool first) const
    {
        const lane at(h, t);
        s.own = {};
        s.own.i = row;
        w.load_shared(at, s.own);
        w.load_receiver(at, s.own);
        if (Scores::LOOPS && first) {
            slices loop[] = {s.own};
            loop->j = loop->e = row;
            loop->loop = loop->counts = true;
            add_edges(s, at, loop);
        }
    }
    __device__ void add(state &s, const struct team &t, int64_t first, const int64_t ends[UNROLL],
                        int count) const
    {
        slices edges[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            edges[u] = s.own;
            edges[u].j = ends[u];
            edges[u].e = first + min_of(u, count - 1);
            edges[u].counts = u < count && !(Scores::LOOPS && ends[u] == s.own.i);
        }
        add_edges(s, lane(h, t), edges);
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
        const lane at(h, t);
        float sum = w.denominator(s.sums[TOP], s.sums[SUM]);
        w.put_row(at, row, s.sums + VALUES, sum);
        if (present(w.lse) && at.leads())
            *double_entry(w.lse, row, at.p.head) = sum != 0 ? softmax_lse(s.sums[TOP], sum) : 0;
    }
};

/* Scratch of attend. */
template <class Args> static int64_t attend_bytes(const Args *a)
{
    int64_t most = 0;
    for (int width : {1, load_width(a->y)}) {
        struct heads h = heads_of(a->y.cols, a->heads, width);
        struct edge_plan p = heads_plan(h, a->adj.row, a->adj.col);
        most = max_of(most, cut_rows_bytes(p, 2 + h.items * width));
    }
    return most;
}

#endif
