/*
 * Backward of dense attention, with p recomputed from the saved lse (Dao et al. 2022):
 *
 *   p = exp(q k' scale - lse)    delta = row sums of dy * y    ds = p * (dy v' - delta)
 *   dq (+)= scale ds k    dk (+)= scale ds' q    dv (+)= p' dy    with dropout of dy v', and of p in dv
 *   with a bias of scores: dbias (+)= ds
 *
 * Two kernels over the same pairs of rows, laid out as in attention.cuh: `queries` holds a block of queries
 * and sweeps over keys; it computes dq, dbias, and delta, which it stores in scratch, and lse beside it.
 * `keys`, queued after it, holds a block of keys and sweeps over queries; it computes dk and dv. So each sum
 * has one owner and a fixed order, at the price of computing scores and dy v' twice. Scores are exponents
 * of 2.
 *
 * Where scores are large, one key mostly has all of p, and ds is 0 there: q and k, which are large too,
 * would multiply any error. So lse is not rounded; both kernels scale q alone, as the forward does, so that
 * scores have the same bits; and delta is summed like dy v', of which y then is a row.
 */
#include "kernels/cuda/attention.cuh"

namespace
{
/* Arguments of both kernels beside the operands. */
struct backward_plan {
    struct mat sums; /* in scratch, 3 H x N: of each head's queries delta, lse rounded, and its rest */
    struct head_columns head;
    float scale;
};

/* A block of queries: rows of q (times scale log2 e), dy and dq. */
template <int DH, int ROWS, class PAIRS> struct query_rows {
    static constexpr int BATCH = 2; /* rows at a time; a batch of both tiles fits in registers */
    static constexpr int ENTRIES = ROWS * COLUMNS;

    rows_of<ROWS> q, dy, dq;
    struct softmax_base lse[ROWS];
    float delta[ROWS];
    PAIRS pairs;

    __device__ void begin(int64_t, int, int)
    {
    }

    __device__ void tile(const float *keys, const float *values, int64_t from, int rows, int)
    {
        pairs.begin(from, rows);
        batches<DH>(this, keys, values, rows);
    }

    __device__ void batch(const float *keys, const float *values, int rows, int at)
    {
        float scores[BATCH][ROWS], ds[BATCH][ROWS] = {};
        const place<DH> place;
        begin_dots<DH>(scores, pairs, at);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            dot_rows<DH, ROWS>(scores[i], q, keys + i * layout<DH>::LD);
            dot_rows<DH, ROWS>(ds[i], dy, values + i * layout<DH>::LD);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                float p = i < rows ? softmax_share(scores[i][r], lse[r]) : 0;
                ds[i][r] = p * (ds[i][r] * pairs.keeps(place.row(r), at + i) - delta[r]);
                if constexpr (PAIRS::BIASED)
                    if (place.part == 0)
                        pairs.put(place.row(r), at + i, ds[i][r]);
            }
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            add_scaled<DH, ROWS>(&dq, ds[i], keys + i * layout<DH>::LD);
    }

    __device__ void send(float *shared) const
    {
        send_rows(shared, dq);
    }

    __device__ void receive(const float *shared)
    {
        float ones[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            ones[r] = 1;
        receive_rows(&dq, shared, ones);
    }
};

/* A block of keys: rows of k, v, dk and dv. */
template <int DH, int ROWS, class PAIRS> struct key_rows {
    static constexpr int BATCH = 1; /* row at a time, as registers allow */
    static constexpr int ENTRIES = 2 * ROWS * COLUMNS;

    rows_of<ROWS> k, v, dk, dv;
    const float *sums; /* of the head, and from one of them to the next (backward_plan) */
    int64_t apart;
    struct softmax_base *lse; /* of the queries of both stages' tiles, in shared memory */
    float *delta;
    int first; /* query of the stage */
    PAIRS pairs;

    /* Missing queries have weight 0. */
    __device__ void begin(int64_t from, int rows, int stage)
    {
        for (int i = threadIdx.x; i < layout<DH>::ROWS; i += ATTENTION_THREADS) {
            const float *from_sums = sums + from + i;
            bool inside = i < rows;
            int at = stage * layout<DH>::ROWS + i;
            delta[at] = inside ? from_sums[0] : 0;
            lse[at].high = inside ? from_sums[apart] : INFINITY;
            lse[at].rest = inside ? from_sums[2 * apart] : 0;
        }
    }

    __device__ void tile(const float *queries, const float *gradients, int64_t from, int rows, int stage)
    {
        pairs.begin(from, rows);
        first = stage * layout<DH>::ROWS;
        batches<DH>(this, queries, gradients, rows);
    }

    __device__ void batch(const float *queries, const float *gradients, int, int at)
    {
        float p[BATCH][ROWS], ds[BATCH][ROWS] = {};
        begin_dots<DH>(p, pairs, at);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            dot_rows<DH, ROWS>(p[i], k, queries + i * layout<DH>::LD);
            dot_rows<DH, ROWS>(ds[i], v, gradients + i * layout<DH>::LD);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                float keeps = pairs.keeps(place<DH>().row(r), at + i);
                p[i][r] = softmax_share(p[i][r], lse[first + at + i]);
                ds[i][r] = p[i][r] * (ds[i][r] * keeps - delta[first + at + i]);
                p[i][r] *= keeps;
            }
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            add_scaled<DH, ROWS>(&dv, p[i], gradients + i * layout<DH>::LD);
            add_scaled<DH, ROWS>(&dk, ds[i], queries + i * layout<DH>::LD);
        }
    }

    __device__ void send(float *shared) const
    {
        send_rows(shared, dk);
        send_rows(shared + ENTRIES / 2 * WARP, dv);
    }

    __device__ void receive(const float *shared)
    {
        float ones[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            ones[r] = 1;
        receive_rows(&dk, shared, ones);
        receive_rows(&dv, shared + ENTRIES / 2 * WARP, ones);
    }
};

/* lse and delta of the block's queries; undefined for missing queries. */
template <int DH, int ROWS, class PAIRS>
__device__ inline void load_sums(query_rows<DH, ROWS, PAIRS> *s, float *shared,
                                 const struct attention_backward_args &a, struct row_block b,
                                 struct head_columns h)
{
    const place<DH> p;
    rows_of<ROWS> y;
    load_rows<DH>(&y, shared, a.y, b, h, 1);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        s->lse[r] =
            softmax_base_of(p.row(r) < b.rows ? *double_entry(a.lse, b.first + p.row(r), h.number) : 0);
        s->lse[r].high = PAIRS::bounded(s->lse[r].high, PAIRS::LOWEST);
        s->delta[r] = 0;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            s->delta[r] += s->dy.at[r][c] * y.at[r][c];
        s->delta[r] = team_sum(WHOLE_WARP, layout<DH>::LANES, s->delta[r]);
    }
}

template <int DH, int ROWS, class PAIRS>
__global__ void __launch_bounds__(ATTENTION_THREADS, ATTENTION_BLOCKS)
    queries(struct attention_backward_args a, struct backward_plan plan, const PAIRS pairs)
{
    typedef query_rows<DH, ROWS, PAIRS> state;
    alignas(16) __shared__ float shared[shared_floats<DH, state>::SIZE];
    const place<DH> p;
    struct head_columns h = plan.head;
    struct row_block b = block_of(a.graphs, layout<DH>::GROUPS * ROWS);
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.z;
    state s = {};
    s.pairs = pairs;
    s.pairs.enter(b, h.number, true, a.bias, a.dbias);
    load_rows<DH>(&s.q, shared, a.q, b, h, plan.scale * LOG2E);
    load_rows<DH>(&s.dy, shared, a.dy, b, h, 1);
    load_sums(&s, shared, a, b, h);
    sweep<DH>(&s, shared, a.k, 1, a.v, pairs.scale(), b, h);
    merge_warps(&s, shared);
    float scale[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        scale[r] = plan.scale;
        if (p.warp > 0 || p.part > 0 || p.row(r) >= b.rows)
            continue;
        float *sums = entry(plan.sums, 3 * h.number, b.first + p.row(r));
        sums[0] = s.delta[r];
        sums[plan.sums.ld] = s.lse[r].high;
        sums[2 * plan.sums.ld] = s.lse[r].rest;
    }
    put_rows<DH>(a.dq, shared, b, h, s.dq, scale);
}

template <int DH, int ROWS, class PAIRS>
__global__ void __launch_bounds__(ATTENTION_THREADS, ATTENTION_BLOCKS)
    keys(struct attention_backward_args a, struct backward_plan plan, const PAIRS pairs)
{
    typedef key_rows<DH, ROWS, PAIRS> state;
    alignas(16) __shared__ float shared[shared_floats<DH, state>::SIZE];
    __shared__ struct softmax_base lse[2 * layout<DH>::ROWS];
    __shared__ float delta[2 * layout<DH>::ROWS];
    struct head_columns h = plan.head;
    struct row_block b = block_of(a.graphs, layout<DH>::GROUPS * ROWS);
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.z;
    state s = {};
    s.sums = entry(plan.sums, 3 * h.number, 0);
    s.apart = plan.sums.ld;
    s.lse = lse;
    s.delta = delta;
    s.pairs = pairs;
    s.pairs.enter(b, h.number, false, a.bias, a.dbias);
    load_rows<DH>(&s.k, shared, a.k, b, h, 1);
    load_rows<DH>(&s.v, shared, a.v, b, h, pairs.scale());
    sweep<DH>(&s, shared, a.q, plan.scale * LOG2E, a.dy, 1, b, h);
    b = block_of(a.graphs, layout<DH>::GROUPS * ROWS); /* meanwhile not in registers */
    merge_warps(&s, shared);
    float scale[ROWS], kept_scale[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        scale[r] = LN2; /* q is scaled */
        kept_scale[r] = pairs.scale();
    }
    put_rows<DH>(a.dk, shared, b, h, s.dk, scale);
    put_rows<DH>(a.dv, shared, b, h, s.dv, kept_scale);
}

struct backward_plan backward_plan_of(const struct attention_backward_args *a)
{
    const struct mat all[] = {a->q, a->k, a->v, a->y, a->dy, a->dq, a->dk, a->dv};
    struct backward_plan p = {};
    p.head = head_columns_of(a->q.cols / a->heads, all, sizeof all / sizeof *all);
    p.scale = (float)(1 / sqrt((double)p.head.dh));
    p.sums = scratch_mat(a->call, 0, 3 * a->heads, a->q.rows);
    return p;
}

template <int DH, int ROWS, class PAIRS>
cuda_status launch_both(const struct attention_backward_args *a, const PAIRS &pairs)
{
    struct launch l = launch_heads(a->q.rows, graph_count(a->graphs), a->heads, layout<DH>::GROUPS * ROWS,
                                   ATTENTION_THREADS);
    struct backward_plan plan = backward_plan_of(a);
    cuda_status status = run(a->call, l, queries<DH, ROWS, PAIRS>, *a, plan, pairs);
    return status.fault ? status : run(a->call, l, keys<DH, ROWS, PAIRS>, *a, plan, pairs);
}

/* Scratch: sums, then the pairs of graphs. */
int64_t sums_bytes(const struct attention_backward_args *a)
{
    return scratch_bytes(mat_size(backward_plan_of(a).sums), sizeof(float));
}

struct backward {
    template <int DH> static cuda_status launch(const struct attention_backward_args *a)
    {
        return with_pairs<float, true, true, true>(a, sums_bytes(a), LOG2E, [=](auto pairs) {
            const int MOST = decltype(pairs)::ROWS > 1 ? 2 : 1;
            return rows_per_thread<DH>(a, MOST) == MOST ? launch_both<DH, MOST>(a, pairs)
                                                        : launch_both<DH, 1>(a, pairs);
        });
    }
};
} // namespace

extern "C" void cuda_attention_backward(const void *args)
{
    run_attention<backward>(__func__, (const struct attention_backward_args *)args);
}

extern "C" int64_t cuda_attention_backward_scratch(const void *args)
{
    const struct attention_backward_args *a = (const struct attention_backward_args *)args;
    return sums_bytes(a) + with_pairs_scratch(a);
}
