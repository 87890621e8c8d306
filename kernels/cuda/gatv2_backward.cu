/*
 * Backward of GATv2 (gatv2.cu), as in ref/gatv2.c. For each head and edge e: j -> i, loops last:
 *
 *   p = exp(s_e - lse_i)    ds = p (dy_i . l_j - dy_i . (y_i - b))    g = ds att leaky'(x)
 *   dr_i (+)= sum of g    dc_e (+)= g    dloop_i (+)= g of the loop, over the edges to i
 *   dl_j (+)= sum of p dy_i + g, over the edges from j
 *   datt (+)= sum of ds leaky(x)    db (+)= sum of dy_i
 *
 * Two passes, as in sparse_attention_backward.cu: over receivers, which also stores each row's part of datt,
 * lse and dy_i . (y_i - b), then over senders; then column sums over the rows.
 */
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gatv2.cuh"

namespace
{
struct slope_work {
    struct leaky_work in;
    struct mat dl, dr, dc, dloop, dy, y, b, lse;
    struct mat saved, datt;   /* in scratch: N x 3 H; N x D, each row's part */
    const int32_t *sent_edge; /* the number of each edge by sender; null without c */
    int64_t sent_edge_ld;
};

/* What is saved of a head: lse to base 2, and delta = dy . (y - b). */
enum { HIGH, REST, DELTA, SAVED };

struct head_facts {
    struct softmax_base lse;
    float delta;
};

__device__ inline struct head_facts facts_of(const struct slope_work &w, int64_t row,
                                             const struct head_place &p)
{
    struct head_facts f = {};
    if (p.active) {
        const float *saved = entry(w.saved, row, SAVED * p.head);
        f = {{saved[HIGH], saved[REST]}, saved[DELTA]};
    }
    return f;
}

/* p and ds of an edge; 0 if it does not count. */
struct edge_weight {
    float p, ds;
};

template <int V, int ITEMS>
__device__ struct edge_weight
weight_of(const struct heads &h, const struct team &t, const struct head_place &p, const struct slope_work &w,
          const slice<V, ITEMS> &x, const slice<V, ITEMS> &att, const slice<V, ITEMS> &dy,
          const slice<V, ITEMS> &l, const struct leaky_edge &e, const struct head_facts &f, bool counts)
{
    float score = leaky_score(h, t, p, w.in, x, att, e);
    float slope = team_sum(t.mask, h.group, head_product(h, t, p, dy, w.dy, e.i, l, w.in.l, e.j));
    struct edge_weight all = {counts ? softmax_share(score, f.lse) : 0, 0};
    all.ds = all.p * (slope - f.delta);
    return all;
}

/* g of the lane's slice. */
template <int V, int ITEMS>
__device__ void find_slopes(float *g, const slice<V, ITEMS> &x, const slice<V, ITEMS> &att, float ds,
                            float slope)
{
#pragma unroll
    for (int n = 0; n < V * ITEMS; n++)
        g[n] = ds * att.at[n / V].at[n % V] * (x.at[n / V].at[n % V] > 0 ? 1 : slope);
}

template <int V, int ITEMS>
__device__ float delta_of(const struct heads &h, const struct team &t, const struct head_place &p,
                          const struct slope_work &w, int64_t row)
{
    float sum = 0;
    int64_t first = p.head * h.size;
    for (int64_t c = (int64_t)(t.lane % h.group) * V; c < h.size && p.active; c += (int64_t)h.group * V)
        sum += sum_of(load<V>(entry(w.dy, row, first + c)) *
                      (load<V>(entry(w.y, row, first + c)) - load<V>(entry(w.b, 0, first + c))));
    return team_sum(t.mask, h.group, sum);
}

/* sums: dr, then the row's part of datt */
template <int V, int ITEMS, class> struct leaky_receive {
    enum { DR = 0, DATT = V * ITEMS, SUMS = 2 * V * ITEMS, UNROLL = 1 };
    struct state {
        float sums[SUMS];
        slice<V, ITEMS> r, att, dy;
        struct head_facts facts;
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
    /* Adds an edge, whose gradient is a row of `to`. */
    __device__ void add_edge(state &s, const struct team &t, const struct leaky_edge &e, const struct mat &to,
                             bool counts) const
    {
        struct head_place p = place_of(h, t);
        slice<V, ITEMS> l = load_slice<V, ITEMS>(h, p, w.in.l, e.j), x = leaky_slice(h, p, s.r, l, e);
        struct edge_weight weight = weight_of(h, t, p, w, x, s.att, s.dy, l, e, s.facts, counts);
        float g[V * ITEMS];
        find_slopes(g, x, s.att, weight.ds, w.in.slope);
#pragma unroll
        for (int n = 0; n < V * ITEMS; n++) {
            s.sums[DR + n] += g[n];
            s.sums[DATT + n] += weight.ds * leaky(x.at[n / V].at[n % V], w.in.slope);
        }
        if (present(to))
            put_slice<V, ITEMS>(h, p, to, e.row, g, 1);
    }
    __device__ void begin(state &s, const struct team &t, int64_t row, bool first) const
    {
        struct head_place p = place_of(h, t);
        s.row = row;
        s.r = load_slice<V, ITEMS>(h, p, w.in.r, row);
        s.att = load_slice<V, ITEMS>(h, p, w.in.att, 0);
        s.dy = load_slice<V, ITEMS>(h, p, w.dy, row);
        s.facts.lse = softmax_base_of(p.active ? *double_entry(w.lse, row, p.head) : 0);
        s.facts.delta = delta_of<V, ITEMS>(h, t, p, w, row);
        if (!first)
            return;
        if (p.active && p.first == 0) {
            float *saved = entry(w.saved, row, SAVED * p.head);
            saved[HIGH] = s.facts.lse.high;
            saved[REST] = s.facts.lse.rest;
            saved[DELTA] = s.facts.delta;
        }
        const struct leaky_edge loop = {row, row, row, w.in.loop};
        add_edge(s, t, loop, w.dloop, true);
    }
    __device__ void add(state &s, const struct team &t, int64_t first, const int64_t ends[UNROLL], int) const
    {
        const struct leaky_edge e = {s.row, ends[0], first, w.in.c};
        add_edge(s, t, e, w.dc, ends[0] != s.row);
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
        put_slice<V, ITEMS>(h, p, w.dr, row, s.sums + DR, 1);
        put_slice<V, ITEMS>(h, p, w.datt, row, s.sums + DATT, 1);
    }
};

/* sums: dl */
template <int V, int ITEMS, class> struct leaky_send {
    enum { SUMS = V * ITEMS, UNROLL = 1 };
    struct state {
        float sums[SUMS];
        slice<V, ITEMS> l, att;
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
    __device__ void add_edge(state &s, const struct team &t, const struct leaky_edge &e, bool counts) const
    {
        struct head_place p = place_of(h, t);
        slice<V, ITEMS> dy = load_slice<V, ITEMS>(h, p, w.dy, e.i);
        slice<V, ITEMS> x = leaky_slice(h, p, load_slice<V, ITEMS>(h, p, w.in.r, e.i), s.l, e);
        struct edge_weight weight = weight_of(h, t, p, w, x, s.att, dy, s.l, e, facts_of(w, e.i, p), counts);
        float g[V * ITEMS];
        find_slopes(g, x, s.att, weight.ds, w.in.slope);
        add_slice(s.sums, weight.p, dy);
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] += g[n];
    }
    __device__ void begin(state &s, const struct team &t, int64_t row, bool first) const
    {
        struct head_place p = place_of(h, t);
        s.row = row;
        s.l = load_slice<V, ITEMS>(h, p, w.in.l, row);
        s.att = load_slice<V, ITEMS>(h, p, w.in.att, 0);
        const struct leaky_edge loop = {row, row, row, w.in.loop};
        if (first)
            add_edge(s, t, loop, true);
    }
    __device__ void add(state &s, const struct team &t, int64_t first, const int64_t ends[UNROLL], int) const
    {
        int64_t number = w.sent_edge ? w.sent_edge[first * w.sent_edge_ld] : 0;
        const struct leaky_edge e = {ends[0], s.row, number, w.in.c};
        add_edge(s, t, e, ends[0] != s.row);
    }
    __device__ void unite(state &s, const float sums[SUMS]) const
    {
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] += sums[n];
    }
    __device__ void finish(const state &s, const struct team &t, int64_t row) const
    {
        put_slice<V, ITEMS>(h, place_of(h, t), w.dl, row, s.sums, 1);
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

/* Scratch: what is saved of rows, their parts of datt, then the split rows of a pass or the column sums. */
struct slope_scratch {
    struct mat saved, datt;
    int64_t bytes;
};

struct slope_scratch slope_scratch_of(const struct gatv2_backward_args *a)
{
    struct slope_scratch s;
    s.saved = scratch_mat(a->call, 0, a->y.rows, a->heads * SAVED);
    s.bytes = scratch_bytes(mat_size(s.saved), sizeof(float));
    s.datt = scratch_mat(a->call, s.bytes, a->y.rows, a->y.cols);
    s.bytes += scratch_bytes(mat_size(s.datt), sizeof(float));
    return s;
}

int64_t pass_bytes(const struct gatv2_backward_args *a, int width)
{
    struct heads h = heads_of(a->y.cols, a->heads, width);
    int sums = h.items * width;
    struct columns c = columns_of(a->y.rows, a->y.cols, width);
    return max_of(columns_bytes(c.chunks, a->y.cols),
                  max_of(cut_rows_bytes(heads_plan(h, a->adj.row, a->adj.col), 2 * sums),
                         cut_rows_bytes(heads_plan(h, a->adj.out_row, a->adj.out_col), sums)));
}
} // namespace

extern "C" void cuda_gatv2_backward(const void *args)
{
    const struct gatv2_backward_args *a = (const struct gatv2_backward_args *)args;
    struct slope_scratch s = slope_scratch_of(a);
    const struct mat all[] = {a->dl, a->dr, a->dy, a->y,    a->l,     a->r,  a->att,
                              a->b,  a->c,  a->dc, a->loop, a->dloop, s.datt};
    const struct slope_work w = {{a->l, a->r, a->att, a->c, a->loop, (float)a->slope},
                                 a->dl,
                                 a->dr,
                                 a->dc,
                                 a->dloop,
                                 a->dy,
                                 a->y,
                                 a->b,
                                 a->lse,
                                 s.saved,
                                 s.datt,
                                 mat_present(a->c) ? (const int32_t *)a->adj.out_edge.data : NULL,
                                 a->adj.out_edge.ld};
    int64_t D = a->y.cols;
    struct heads h = heads_of(D, a->heads, head_width(D / a->heads, all, 13));
    CUDA_CHECK(a->call, run_heads<leaky_receive>(a->call, w, h, received(a->adj), s.bytes));
    CUDA_CHECK(a->call, run_heads<leaky_send>(a->call, w, h, sent(a->adj), s.bytes));
    const row_parts parts = {s.datt, a->dy};
    const struct column_results to = {a->datt, a->db, {}, 0};
    const struct mat summed[] = {s.datt, a->dy};
    CUDA_CHECK(a->call, run_columns(a->call, columns_of(a->y.rows, D, width_of(summed, 2)), parts,
                                    (float *)scratch_at(a->call, s.bytes), to));
}

extern "C" int64_t cuda_gatv2_backward_scratch(const void *args)
{
    const struct gatv2_backward_args *a = (const struct gatv2_backward_args *)args;
    return slope_scratch_of(a).bytes + max_of(pass_bytes(a, WIDE), pass_bytes(a, 1));
}
