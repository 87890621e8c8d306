/*
 * Backward of attention over the edges of a graph (edge_softmax.cuh). For each head and edge e: j -> i:
 *
 *   p = exp(s_e - lse_i)    ds_e = p (dy_i . v_j - delta_i)    delta_i = dy_i . (y_i without its bias)
 *
 * Two passes recompute p, both in shares of equal work (edges.cuh): over the receivers i, which also stores
 * lse and delta in scratch, then over the senders j. Each sum is accumulated by the same lanes throughout.
 *
 * For large scores, as in attention_backward.cu, lse is not rounded, scores have the bits that they had in
 * the forward, and delta is summed like dy_i . v_j.
 *
 * Work is Scores (edge_softmax.cuh) and edge_gradients, and has
 *   RECEIVED, SENT            rows that are summed for i and for j
 *   SLICES                    by how much fewer edges are processed at a time, for want of registers
 *   delta(lane, slices, dy)   the lane's part of delta_i
 *   receive(lane, slices, p, slope, sums), send
 *                             add an edge, with ds_e = p slope, to the sums
 */
#ifndef GTMARK_KERNELS_CUDA_EDGE_SLOPES_CUH
#define GTMARK_KERNELS_CUDA_EDGE_SLOPES_CUH

#include "kernels/cuda/edge_softmax.cuh"

/* What is saved of a head: lse to base 2, and delta. */
enum { HIGH, REST, DELTA, SAVED };

struct edge_gradients {
    struct mat dy, saved;            /* saved: N x 3 H, in scratch */
    struct mat received[2], sent[2]; /* the outputs that are sums */
    const int32_t *sent_edge;        /* the number of each edge by sender; null: not needed */
    int64_t sent_edge_ld;
};

struct head_facts {
    struct softmax_base lse;
    float delta;
};

template <int V, int ITEMS, class T, class Work, bool SENDS> struct slopes {
    using lane = head_lane<V, ITEMS, T>;
    using slices = typename Work::template slices<lane>;
    enum {
        ROWS = SENDS ? Work::SENT : Work::RECEIVED,
        SUMS = ROWS * lane::ENTRIES,
        AT_ONCE = edges_at_once<ITEMS>::VALUE / Work::SLICES / (SENDS && V > 4 ? 2 : 1),
        UNROLL = AT_ONCE > 1 ? AT_ONCE : 1
    };
    struct state {
        float sums[SUMS];
        slices own;
        struct head_facts facts;
    };
    Work w;
    struct heads h;

    __device__ void clear(state &s) const
    {
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] = 0;
    }
    __device__ struct head_facts saved_facts(const lane &at, int64_t row) const
    {
        struct head_facts f = {};
        if (at.p.active) {
            const float *saved = entry(w.saved, row, SAVED * at.p.head);
            f = {{saved[HIGH], saved[REST]}, saved[DELTA]};
        }
        return f;
    }
    __device__ void load_receiver(const lane &at, slices &s) const
    {
        w.load_receiver(at, s);
        s.dy = at.load(w.dy, s.i);
    }
    template <int COUNT> __device__ void add_edges(state &s, const lane &at, slices (&edges)[COUNT]) const
    {
        float scores[COUNT], products[COUNT];
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            if (SENDS)
                load_receiver(at, edges[u]);
            else
                w.load_sender(at, edges[u]);
            w.load_edge(at, edges[u]);
            scores[u] = w.product(at, edges[u]);
            products[u] = at.product(edges[u].dy, w.dy, edges[u].i, edges[u].v, w.v, edges[u].j);
        }
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            struct head_facts f = SENDS ? saved_facts(at, edges[u].i) : s.facts;
            float sum = at.total(scores[u]), slope = at.total(products[u]) - f.delta;
            float p = edges[u].counts ? softmax_share(w.exponent(sum), f.lse) : 0;
            slope = w.moves(sum) ? slope : 0;
            if (SENDS)
                w.send(at, edges[u], p, slope, s.sums);
            else
                w.receive(at, edges[u], p, slope, s.sums);
        }
    }
    __device__ void find_facts(state &s, const lane &at, int64_t row, bool first) const
    {
        s.facts.lse = softmax_base_of(at.p.active ? *double_entry(w.lse, row, at.p.head) : 0);
        s.facts.delta = at.total(w.delta(at, s.own, w.dy));
        if (!first || !at.leads())
            return;
        float *saved = entry(w.saved, row, SAVED * at.p.head);
        saved[HIGH] = s.facts.lse.high;
        saved[REST] = s.facts.lse.rest;
        saved[DELTA] = s.facts.delta;
    }
    __device__ void begin(state &s, const struct team &t, int64_t row, bool first) const
    {
        const lane at(h, t);
        s.own = {};
        s.own.i = s.own.j = row;
        w.load_shared(at, s.own);
        if (SENDS) {
            w.load_sender(at, s.own);
        } else {
            load_receiver(at, s.own);
            find_facts(s, at, row, first);
        }
        if (Work::LOOPS && first) {
            slices loop[] = {s.own};
            loop->e = row;
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
            int64_t place = first + min_of(u, count - 1);
            edges[u] = s.own;
            (SENDS ? edges[u].i : edges[u].j) = ends[u];
            edges[u].e = SENDS && w.sent_edge ? w.sent_edge[place * w.sent_edge_ld] : place;
            edges[u].counts = u < count && !(Work::LOOPS && edges[u].i == edges[u].j);
        }
        add_edges(s, lane(h, t), edges);
    }
    __device__ void unite(state &s, const float sums[SUMS]) const
    {
#pragma unroll
        for (int n = 0; n < SUMS; n++)
            s.sums[n] += sums[n];
    }
    __device__ void finish(const state &s, const struct team &t, int64_t row) const
    {
        const lane at(h, t);
#pragma unroll
        for (int n = 0; n < ROWS; n++)
            at.put((SENDS ? w.sent : w.received)[n], row, s.sums + n * lane::ENTRIES, 1);
    }
};

template <int V, int ITEMS, class T, class Work> using receive = slopes<V, ITEMS, T, Work, false>;
template <int V, int ITEMS, class T, class Work> using send = slopes<V, ITEMS, T, Work, true>;

/* Both passes, with scratch from `before` on. */
template <class T, class Args, class Work>
static cuda_status run_slopes(const Args *a, const Work &w, struct heads h, int64_t before)
{
    cuda_status status = run_heads<receive, T>(a->call, w, h, received(a->adj), before);
    return status.fault ? status : run_heads<send, T>(a->call, w, h, sent(a->adj), before);
}

/* Scratch of what is saved; of a pass. */
template <class Args> static int64_t saved_bytes(const Args *a)
{
    return scratch_bytes(a->y.rows * a->heads * SAVED, sizeof(float));
}

template <class Work, class Args> static int64_t slopes_bytes(const Args *a)
{
    int64_t most = 0;
    for (int width : {1, load_width(a->y)}) {
        struct heads h = heads_of(a->y.cols, a->heads, width);
        int sums = h.items * width;
        struct edge_plan receive = heads_plan(h, a->adj.row, a->adj.col);
        struct edge_plan send = heads_plan(h, a->adj.out_row, a->adj.out_col);
        most = max_of(most, max_of(cut_rows_bytes(receive, Work::RECEIVED * sums),
                                   cut_rows_bytes(send, Work::SENT * sums)));
    }
    return most;
}

#endif
