/*
 * The heads of attention over edges on the device: a lane's slices of rows, and dot products of rows. See
 * heads.h.
 */
#ifndef GTMARK_KERNELS_CUDA_HEADS_CUH
#define GTMARK_KERNELS_CUDA_HEADS_CUH

#include "kernels/cuda/edges.cuh"
#include "kernels/cuda/heads.h"

template <int V, int ITEMS> struct slice {
    vec<V> at[ITEMS];
};

static __device__ inline struct head_place place_of(const struct heads &h, const struct team &t)
{
    return head_place_of(h, t.tile, t.lane);
}

/* Zero outside the head. */
template <int V, int ITEMS>
static __device__ slice<V, ITEMS> load_slice(const struct heads &h, const struct head_place &p,
                                             const struct mat &m, int64_t row)
{
    slice<V, ITEMS> s;
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
        int c = head_entry(h, p, n);
        s.at[n] = p.active && c < h.size ? load<V>(node_entry(m, row, p.head * h.size + c)) : same<V>(0);
    }
    return s;
}

/* m_row (+)= the slice times `factor`. */
template <int V, int ITEMS>
static __device__ void put_slice(const struct heads &h, const struct head_place &p, const struct mat &m,
                                 int64_t row, const float *sums, float factor)
{
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
        int c = head_entry(h, p, n);
        vec<V> x;
#pragma unroll
        for (int v = 0; v < V; v++)
            x.at[v] = sums[n * V + v] * factor;
        if (p.active && c < h.size)
            put(node_entry(m, row, p.head * h.size + c), m.acc, x);
    }
}

/*
 * This lane's part of a_i . b_j over the whole head: from its slices, or read again if a head has several
 * parts.
 */
template <int V, int ITEMS>
static __device__ float head_product(const struct heads &h, const struct team &t, const struct head_place &p,
                                     const slice<V, ITEMS> &x, const struct mat &a, int64_t i,
                                     const slice<V, ITEMS> &y, const struct mat &b, int64_t j)
{
    float sum = 0;
    if (h.parts == 1) {
#pragma unroll
        for (int n = 0; n < ITEMS; n++)
            sum += sum_of(x.at[n] * y.at[n]);
        return sum;
    }
    int first = p.head * h.size;
    for (int c = t.lane % h.group * V; c < h.size && p.active; c += h.group * V)
        sum += sum_of(load<V>(node_entry(a, i, first + c)) * load<V>(node_entry(b, j, first + c)));
    return sum;
}

/* sums += factor x */
template <int V, int ITEMS>
static __device__ void add_slice(float *sums, float factor, const slice<V, ITEMS> &x)
{
#pragma unroll
    for (int n = 0; n < ITEMS; n++)
#pragma unroll
        for (int v = 0; v < V; v++)
            sums[n * V + v] += factor * x.at[n].at[v];
}

/* Edges at a time, limited by registers. */
template <int ITEMS> struct edges_at_once {
    enum { VALUE = HEAD_ITEMS / ITEMS };
};

static inline struct edge_plan heads_plan(struct heads h, struct mat row, struct mat col)
{
    return edge_plan_of(row, col, heads_lanes(h), heads_tiles(h));
}

/* Runs Body<V, ITEMS>{work, heads} over the edges. */
template <template <int, int> class Body, int V, class Work>
static cuda_status run_heads_of(const struct call &call, const Work &work, struct heads h,
                                struct edge_lists edges, struct edge_plan p, int64_t before)
{
    const Body<V, 1> one = {work, h};
    const Body<V, 2> two = {work, h};
    const Body<V, 4> four = {work, h};
    switch (h.items) {
    case 1:
        return run_edges(call, one, edges, p, before);
    case 2:
        return run_edges(call, two, edges, p, before);
    default:
        return run_edges(call, four, edges, p, before);
    }
}

template <template <int, int> class Body, class Work>
static cuda_status run_heads(const struct call &call, const Work &work, struct heads h, struct mat row,
                             struct mat col, int64_t before)
{
    struct edge_plan p = heads_plan(h, row, col);
    if (h.width == WIDE)
        return run_heads_of<Body, WIDE>(call, work, h, edge_lists_of(row, col), p, before);
    return run_heads_of<Body, 1>(call, work, h, edge_lists_of(row, col), p, before);
}

#endif
