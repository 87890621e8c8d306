/*
 * Backward of GATv2 (edge_slopes.cuh), as in ref/gatv2.c. For each head and edge e: j -> i, loops first:
 *
 *   g = ds_e att leaky'(x)
 *   dr_i (+)= sum of g    dc_e (+)= g    dloop_i (+)= g of the loop, over the edges to i
 *   dl_j (+)= sum of p dy_i + g, over the edges from j
 *   datt (+)= sum of ds_e leaky(x)    db (+)= sum of dy_i
 *
 * The pass over receivers also stores each row's part of datt; column sums over the rows follow.
 */
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/edge_slopes.cuh"
#include "kernels/cuda/gatv2.cuh"

namespace
{
struct leaky_slopes : leaky_scores, edge_gradients {
    struct mat dc, dloop;
    enum { RECEIVED = 2, SENT = 1, SLICES = HEAD_ITEMS };

    template <class L> __device__ float delta(const L &at, const slices<L> &s, const struct mat &) const
    {
        typename L::slice out = at.load(y, s.i), bias = at.load(b, 0);
        return at.sum([&](int n) { return sum_of(s.dy.at[n] * (out.at[n] - bias.at[n])); },
                      [&](int k) {
                          vec<L::V> all = at.load_vector(y, s.i, k) - at.load_vector(b, 0, k);
                          return sum_of(at.load_vector(dy, s.i, k) * all);
                      });
    }
    template <class L> __device__ void find_slopes(float *g, const slices<L> &s, float ds) const
    {
#pragma unroll
        for (int n = 0; n < L::ENTRIES; n++)
            g[n] = ds * s.att.at[n / L::V].at[n % L::V] * (s.x.at[n / L::V].at[n % L::V] > 0 ? 1 : slope);
    }
    /* sums: dr, then the row's part of datt */
    template <class L>
    __device__ void receive(const L &at, const slices<L> &s, float p, float change, float *sums) const
    {
        const struct mat &to = s.loop ? dloop : dc;
        float g[L::ENTRIES], ds = p * change;
        find_slopes(g, s, ds);
#pragma unroll
        for (int n = 0; n < L::ENTRIES; n++) {
            sums[n] += g[n];
            sums[L::ENTRIES + n] += ds * leaky(s.x.at[n / L::V].at[n % L::V]);
        }
        if (present(to))
            at.put(to, s.e, g, 1);
    }
    template <class L>
    __device__ void send(const L &at, const slices<L> &s, float p, float change, float *sums) const
    {
        float g[L::ENTRIES];
        find_slopes(g, s, p * change);
        at.add(sums, p, s.dy);
#pragma unroll
        for (int n = 0; n < L::ENTRIES; n++)
            sums[n] += g[n];
    }
};

/* Column sums of each row's part of datt, and of dy. */
struct row_parts {
    struct mat datt, dy;

    __device__ void enter(int64_t) const
    {
    }
    template <int V> __device__ void add(int64_t i, int64_t k, column_sums<V> &sums) const
    {
        sums.s = sums.s + load<V>(entry(datt, i, k));
        sums.t = sums.t + load<V>(entry(dy, i, k));
    }
};

/* Scratch: what is saved of heads, the rows' parts of datt, then the split rows of a pass or the column sums.
 */
int64_t kept_bytes(const struct gatv2_backward_args *a)
{
    return saved_bytes(a) + scratch_bytes(mat_size(a->y), sizeof(float));
}
} // namespace

extern "C" void cuda_gatv2_backward(const void *args)
{
    const struct gatv2_backward_args *a = (const struct gatv2_backward_args *)args;
    int64_t D = a->y.cols;
    struct mat saved = scratch_mat(a->call, 0, a->y.rows, a->heads * SAVED);
    struct mat datt = scratch_mat(a->call, saved_bytes(a), a->y.rows, D);
    const struct mat all[] = {a->dl, a->dr, a->dy, a->y,    a->l,     a->r, a->att,
                              a->b,  a->c,  a->dc, a->loop, a->dloop, datt};
    const int32_t *number = mat_present(a->c) ? (const int32_t *)a->adj.out_edge.data : NULL;
    const struct leaky_slopes w = {leaky_scores_of(a),
                                   {a->dy, saved, {a->dr, datt}, {a->dl}, number, a->adj.out_edge.ld},
                                   a->dc,
                                   a->dloop};
    struct heads h = heads_of(D, a->heads, head_width(D / a->heads, all, 13));
    CUDA_CHECK(a->call, run_slopes<float>(a, w, h, kept_bytes(a)));
    const row_parts parts = {datt, a->dy};
    const struct column_results to = {a->datt, a->db, {}, 0};
    const struct mat summed[] = {datt, a->dy};
    CUDA_CHECK(a->call, run_columns(a->call, columns_of(a->y.rows, D, width_of(summed, 2)), parts,
                                    (float *)scratch_at(a->call, kept_bytes(a)), to));
}

extern "C" int64_t cuda_gatv2_backward_scratch(const void *args)
{
    const struct gatv2_backward_args *a = (const struct gatv2_backward_args *)args;
    int64_t chunks = columns_of(a->y.rows, a->y.cols, 1).chunks;
    return kept_bytes(a) + max_of(slopes_bytes<leaky_slopes>(a), columns_bytes(chunks, a->y.cols));
}
