/*
 * The heads of attention over edges on the device: a lane's slices of rows, and dot products of rows. See
 * heads.h.
 */
#ifndef GTMARK_KERNELS_CUDA_HEADS_CUH
#define GTMARK_KERNELS_CUDA_HEADS_CUH

#include "kernels/cuda/edges.cuh"
#include "kernels/cuda/heads.h"

/* As stored: in BF16 two entries take a register. */
template <int V, int ITEMS, class T = float> struct slice {
    decltype(load_stored<V>((const T *)0)) at[ITEMS];
};

static __device__ inline struct head_place place_of(const struct heads &h, const struct team &t)
{
    return head_place_of(h, t.tile, t.lane);
}

/* Zero outside the head. */
template <int V, int ITEMS, class T = float>
static __device__ slice<V, ITEMS, T> load_slice(const struct heads &h, const struct head_place &p,
                                                const struct mat &m, int64_t row)
{
    slice<V, ITEMS, T> s = {};
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
        int c = head_entry(h, p, n);
        if (p.active && c < h.size)
            s.at[n] = load_stored<V>(node_entry<T>(m, row, p.head * h.size + c));
    }
    return s;
}

/* m_row (+)= the slice times `factor`. */
template <int V, int ITEMS, class T = float>
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
            put(node_entry<T>(m, row, p.head * h.size + c), m.acc, x);
    }
}

/*
 * This lane's part of a_i . b_j over the whole head: from its slices, or read again if a head has several
 * parts.
 */
template <int V, int ITEMS, class T>
static __device__ float head_product(const struct heads &h, const struct team &t, const struct head_place &p,
                                     const slice<V, ITEMS, T> &x, const struct mat &a, int64_t i,
                                     const slice<V, ITEMS, T> &y, const struct mat &b, int64_t j)
{
    float sum = 0;
    if (h.parts == 1) {
#pragma unroll
        for (int n = 0; n < ITEMS; n++)
            sum += sum_of(widened(x.at[n]) * widened(y.at[n]));
        return sum;
    }
    int first = p.head * h.size;
    for (int c = t.lane % h.group * V; c < h.size && p.active; c += h.group * V)
        sum += sum_of(load<V>(node_entry<T>(a, i, first + c)) * load<V>(node_entry<T>(b, j, first + c)));
    return sum;
}

/* sums += factor x */
template <int V, int ITEMS, class T>
static __device__ void add_slice(float *sums, float factor, const slice<V, ITEMS, T> &x)
{
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
        vec<V> all = widened(x.at[n]);
#pragma unroll
        for (int v = 0; v < V; v++)
            sums[n * V + v] += factor * all.at[v];
    }
}

/* Edges at a time, limited by registers. */
template <int ITEMS> struct edges_at_once {
    enum { VALUE = HEAD_ITEMS / ITEMS };
};

static inline struct edge_plan heads_plan(struct heads h, struct mat row, struct mat col)
{
    return edge_plan_of(row, col, heads_lanes(h), heads_tiles(h));
}

/* Runs Body<V, ITEMS, T>{work, heads} over the edges. */
template <template <int, int, class> class Body, int V, class T, class Work>
static cuda_status run_heads_of(const struct call &call, const Work &work, struct heads h,
                                struct edge_side edges, struct edge_plan p, int64_t before)
{
    const int MOST = HEAD_ENTRIES / V < HEAD_ITEMS ? HEAD_ENTRIES / V : HEAD_ITEMS;
    const Body<V, 1, T> one = {work, h};
    const Body<V, 2, T> two = {work, h};
    const Body<V, MOST, T> most = {work, h};
    switch (h.items) {
    case 1:
        return run_edges(call, one, edges, p, before);
    case 2:
        return run_edges(call, two, edges, p, before);
    default:
        return run_edges(call, most, edges, p, before);
    }
}

template <template <int, int, class> class Body, class T = float, class Work>
static cuda_status run_heads(const struct call &call, const Work &work, struct heads h,
                             struct edge_side edges, int64_t before)
{
    const int VECTOR = LOAD_BYTES / sizeof(T);
    struct edge_plan p = heads_plan(h, edges.row, edges.col);
    if (h.width == VECTOR)
        return run_heads_of<Body, VECTOR, T>(call, work, h, edges, p, before);
    return run_heads_of<Body, 1, T>(call, work, h, edges, p, before);
}

#endif
