/*
 * The heads of attention over edges on the device: a lane's slices of rows, and sums over heads. See
 * heads.h.
 */
#ifndef GTMARK_KERNELS_CUDA_HEADS_CUH
#define GTMARK_KERNELS_CUDA_HEADS_CUH

#include "kernels/cuda/edges.cuh"
#include "kernels/cuda/heads.h"

/* A lane of a team, which has V ITEMS entries of a row of T. */
template <int WIDTH, int COUNT, class TYPE> struct head_lane {
    enum { V = WIDTH, ITEMS = COUNT, ENTRIES = V * ITEMS };
    using T = TYPE;
    /* As stored: in BF16 two entries take a register. */
    struct slice {
        decltype(load_stored<V>((const T *)0)) at[ITEMS];
    };
    const struct heads &h;
    const struct team &t;
    struct head_place p;

    __device__ head_lane(const struct heads &of, const struct team &team)
        : h(of), t(team), p(head_place_of(of, team.tile, team.lane))
    {
    }
    /* Whether it stores what there is once for each head. */
    __device__ bool leads() const
    {
        return p.active && p.first == 0;
    }
    /* Zero outside the head. */
    __device__ slice load(const struct mat &m, int64_t row) const
    {
        slice s = {};
#pragma unroll
        for (int n = 0; n < ITEMS; n++) {
            int c = head_entry(h, p, n);
            if (p.active && c < h.size)
                s.at[n] = load_stored<V>(node_entry<T>(m, row, p.head * h.size + c));
        }
        return s;
    }
    /* m_row (+)= the slice times `factor`. */
    __device__ void put(const struct mat &m, int64_t row, const float *sums, float factor) const
    {
#pragma unroll
        for (int n = 0; n < ITEMS; n++) {
            int c = head_entry(h, p, n);
            vec<V> x;
#pragma unroll
            for (int v = 0; v < V; v++)
                x.at[v] = sums[n * V + v] * factor;
            if (p.active && c < h.size)
                ::put(node_entry<T>(m, row, p.head * h.size + c), m.acc, x);
        }
    }
    /* sums += factor x y */
    static __device__ void add(float *sums, float factor, const slice &x, const slice &y)
    {
#pragma unroll
        for (int n = 0; n < ITEMS; n++) {
            vec<V> all = widened(x.at[n]) * widened(y.at[n]);
#pragma unroll
            for (int v = 0; v < V; v++)
                sums[n * V + v] += factor * all.at[v];
        }
    }
    /* sums += factor x */
    static __device__ void add(float *sums, float factor, const slice &x)
    {
#pragma unroll
        for (int n = 0; n < ITEMS; n++) {
            vec<V> all = widened(x.at[n]);
#pragma unroll
            for (int v = 0; v < V; v++)
                sums[n * V + v] += factor * all.at[v];
        }
    }
    /*
     * This lane's part of a sum over the whole head: of held(n) of its slices, or, if a head has several
     * parts, of read(c) of all columns c.
     */
    template <class Held, class Read> __device__ float sum(const Held &held, const Read &read) const
    {
        float all = 0;
        if (h.parts == 1) {
#pragma unroll
            for (int n = 0; n < ITEMS; n++)
                all += held(n);
            return all;
        }
        int first = p.head * h.size;
        for (int c = t.lane % h.group * V; c < h.size && p.active; c += h.group * V)
            all += read(first + c);
        return all;
    }
    /* The same of a_i . b_j. */
    __device__ float product(const slice &x, const struct mat &a, int64_t i, const slice &y,
                             const struct mat &b, int64_t j) const
    {
        return sum([&](int n) { return sum_of(widened(x.at[n]) * widened(y.at[n])); },
                   [&](int c) { return sum_of(load_vector(a, i, c) * load_vector(b, j, c)); });
    }
    static __device__ vec<V> load_vector(const struct mat &m, int64_t row, int64_t c)
    {
        return ::load<V>(node_entry<T>(m, row, c));
    }
    /* In all lanes of the head. */
    __device__ float total(float part) const
    {
        return team_sum(t.mask, h.group, part);
    }
};

/* Edges at a time, limited by registers. */
template <int ITEMS> struct edges_at_once {
    enum { VALUE = HEAD_ITEMS / ITEMS };
};

static inline struct edge_plan heads_plan(struct heads h, struct mat row, struct mat col)
{
    return edge_plan_of(row, col, heads_lanes(h), heads_tiles(h));
}

/* Runs Body<V, ITEMS, T, Work>{work, heads} over the edges. */
template <template <int, int, class, class> class Body, int V, class T, class Work>
static cuda_status run_heads_of(const struct call &call, const Work &work, struct heads h,
                                struct edge_side edges, struct edge_plan p, int64_t before)
{
    const int MOST = HEAD_ENTRIES / V < HEAD_ITEMS ? HEAD_ENTRIES / V : HEAD_ITEMS;
    const Body<V, 1, T, Work> one = {work, h};
    const Body<V, 2, T, Work> two = {work, h};
    const Body<V, MOST, T, Work> most = {work, h};
    switch (h.items) {
    case 1:
        return run_edges(call, one, edges, p, before);
    case 2:
        return run_edges(call, two, edges, p, before);
    default:
        return run_edges(call, most, edges, p, before);
    }
}

template <template <int, int, class, class> class Body, class T = float, class Work>
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
