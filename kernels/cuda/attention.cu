/*
 * Dense multi-head attention within each graph of a batch, without a score matrix: y = softmax(q k' scale) v
 * with scale = (D / H)^-1/2, per head, and lse = log sum exp of each row's scaled scores. q, k, v, y: N x D,
 * lse: N x H.
 *
 * A thread block processes one head of a block of queries, held in registers (attention.cuh), and sweeps over
 * the keys and values of its graph. Scores are exponents of 2 (q is scaled by scale log2 e). Each row keeps
 * the largest score so far and sums relative to it, rescaled when it grows, and the warps' shares of the keys
 * are combined by the same rule: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018;
 * Dao et al., "FlashAttention", 2022. All sums are in f32.
 *
 * Blocks of queries are numbered without a table (search.h), so the host plans the grid without the offsets.
 * Products of pairs with a bias begin with it. Dropout leaves the sums of the softmax as they are. With more
 * rows per thread, each load of a key serves more products; with fewer, there are more blocks. The choice
 * does not change results, because the summation order is the same.
 */
#include "kernels/cuda/attention.cuh"

namespace
{
/* A warp's partial state of the online softmax. */
template <int DH, int ROWS, class PAIRS> struct softmax_rows {
    static constexpr int BATCH = 4; /* keys at a time */
    static constexpr int ENTRIES = ROWS * (COLUMNS + 2);

    rows_of<ROWS> q, y;
    float top[ROWS], sum[ROWS];
    PAIRS pairs;

    __device__ void begin(int64_t, int, int)
    {
    }

    __device__ void tile(const float *keys, const float *values, int64_t from, int rows, int)
    {
        pairs.begin(from, rows);
        batches<DH>(this, keys, values, rows);
    }

    /* Rescales the sums of row r, whose largest score becomes `larger`. */
    __device__ void raise(int r, float larger)
    {
        float weight = softmax_weight(top[r], larger);
        sum[r] *= weight;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            y.at[r][c] *= weight;
        top[r] = larger;
    }

    __device__ void batch(const float *keys, const float *values, int rows, int at)
    {
        float scores[BATCH][ROWS];
        begin_dots<DH>(scores, pairs, at);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            dot_rows<DH, ROWS>(scores[i], q, keys + i * layout<DH>::LD);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                scores[i][r] = i < rows ? scores[i][r] : -INFINITY;
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float larger = scores[0][r];
#pragma unroll
            for (int i = 1; i < BATCH; i++)
                larger = softmax_top(larger, scores[i][r]);
            if (larger > top[r])
                raise(r, larger);
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                scores[i][r] = exp2f(scores[i][r] - top[r]);
                sum[r] += scores[i][r];
                scores[i][r] *= pairs.keeps(place<DH>().row(r), at + i);
            }
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            add_scaled<DH, ROWS>(&y, scores[i], values + i * layout<DH>::LD);
    }

    __device__ void send(float *shared) const
    {
        send_rows(shared, y);
        float *rest = shared + ROWS * COLUMNS * WARP + threadIdx.x % WARP;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            rest[2 * r * WARP] = top[r];
            rest[(2 * r + 1) * WARP] = sum[r];
        }
    }

    __device__ void receive(const float *shared)
    {
        const float *rest = shared + ROWS * COLUMNS * WARP + threadIdx.x % WARP;
        float weight[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float other = rest[2 * r * WARP];
            if (other > top[r])
                raise(r, other);
            weight[r] = softmax_weight(other, top[r]);
            sum[r] += weight[r] * rest[(2 * r + 1) * WARP];
        }
        receive_rows(&y, shared, weight);
    }
};

template <int DH, int ROWS, class PAIRS>
__global__ void __launch_bounds__(ATTENTION_THREADS, ATTENTION_BLOCKS)
    attend(struct attention_args a, struct head_columns h, float scale, const PAIRS pairs)
{
    typedef softmax_rows<DH, ROWS, PAIRS> state;
    alignas(16) __shared__ float shared[shared_floats<DH, state>::SIZE];
    const place<DH> p;
    struct row_block b = block_of(a.graphs, layout<DH>::GROUPS * ROWS);
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.z;
    state s = {};
    s.pairs = pairs;
    s.pairs.enter(b, h.number, true, a.bias, {});
    load_rows<DH>(&s.q, shared, a.q, b, h, scale * LOG2E);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        s.top[r] = PAIRS::LOWEST;
    sweep<DH>(&s, shared, a.k, 1, a.v, pairs.scale(), b, h);
    merge_warps(&s, shared);
    float inverse[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        inverse[r] = 1 / PAIRS::bounded(s.sum[r], FLT_MIN);
        if (a.lse.rows > 0 && p.warp == 0 && p.part == 0 && p.row(r) < b.rows)
            *double_entry(a.lse, b.first + p.row(r), h.number) = softmax_lse(s.top[r], s.sum[r]);
    }
    put_rows<DH>(a.y, shared, b, h, s.y, inverse);
}

template <int DH, int ROWS, class PAIRS>
cuda_status launch_rows(const struct attention_args *a, const PAIRS &pairs)
{
    struct launch l = launch_heads(a->q.rows, graph_count(a->graphs), a->heads, layout<DH>::GROUPS * ROWS,
                                   ATTENTION_THREADS);
    const struct mat all[] = {a->q, a->k, a->v, a->y};
    struct head_columns h = head_columns_of(a->q.cols / a->heads, all, 4);
    return run(a->call, l, attend<DH, ROWS, PAIRS>, *a, h, (float)(1 / sqrt((double)h.dh)), pairs);
}

struct forward {
    template <int DH> static cuda_status launch(const struct attention_args *a)
    {
        return with_pairs<float, true, true, true>(a, 0, LOG2E, [=](auto pairs) {
            const int MOST = decltype(pairs)::ROWS;
            return rows_per_thread<DH>(a, MOST) == MOST ? launch_rows<DH, MOST>(a, pairs)
                                                        : launch_rows<DH, 1>(a, pairs);
        });
    }
};
} // namespace

extern "C" void cuda_attention(const void *args)
{
    run_attention<forward>(__func__, (const struct attention_args *)args);
}

extern "C" int64_t cuda_attention_scratch(const void *args)
{
    return with_pairs_scratch((const struct attention_args *)args);
}
