/*
 * Dense attention (attention.cu) on tensor cores: operands of products in TF32, as sums of two in TF32, or in
 * bf16, that is, q, k, v and the softmax's exponentials; all else, the sums among it, in f32
 * (attention_tensor.cuh). Dao, "FlashAttention-2", 2023.
 */
#include "kernels/cuda/attention_tensor.cuh"

namespace
{
/* A warp's queries and the state of their online softmax; sums are those of the lane's columns. */
template <class L, class PAIRS> struct tensor_softmax {
    static constexpr int AT_ONCE = !L::SPLITS ? L::ROWS : L::DH > 16 ? 16 : 32; /* as registers allow */

    strip<L> q;
    strip_sums<L> y;
    float top[2], sum[2], scale; /* top: before scores are scaled, to exponents of 2 */
    PAIRS pairs;

    __device__ void begin(int64_t, int, int)
    {
    }

    /* Rescales the sums of both rows, whose largest scores become these. */
    __device__ void raise(const float (&larger)[2])
    {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float weight = softmax_weight(top[r] * scale, larger[r] * scale);
            sum[r] *= weight;
#pragma unroll
            for (int c = 0; c < L::DH / STEP; c++) {
                y.at[c][2 * r] *= weight;
                y.at[c][2 * r + 1] *= weight;
            }
            top[r] = larger[r];
        }
    }

    /* AT_ONCE keys of a tile, from `first` on, of which those beyond `rows` are missing. */
    __device__ void attend_to(const typename L::type *keys, const typename L::type *values, int first,
                              int rows)
    {
        float scores[AT_ONCE / L::DEPTH][L::PARTS][4] = {}, larger[2] = {top[0], top[1]};
        add_dots<L>(scores, q, keys);
        add_biases(scores, pairs, first);
#pragma unroll
        for (int j = 0; j < AT_ONCE; j += L::DEPTH) {
            float(&part)[L::PARTS][4] = scores[j / L::DEPTH];
            if (rows < AT_ONCE)
                set_beyond(part, rows - j, -INFINITY);
#pragma unroll
            for (int i = 0; i < L::PARTS * 4; i++)
                larger[i / 2 % 2] = fmaxf(larger[i / 2 % 2], part[i / 4][i % 4]);
        }
#pragma unroll
        for (int r = 0; r < 2; r++)
            larger[r] = team_max(WHOLE_WARP, QUAD, larger[r]);
        if (__any_sync(WHOLE_WARP, larger[0] > top[0] || larger[1] > top[1]))
            raise(larger);
        const float base[2] = {top[0] * scale, top[1] * scale};
#pragma unroll
        for (int j = 0; j < AT_ONCE; j += L::DEPTH) {
            float(&part)[L::PARTS][4] = scores[j / L::DEPTH];
#pragma unroll
            for (int i = 0; i < L::PARTS * 4; i++) {
                float &weight = part[i / 4][i % 4];
                weight = exp2_flushed(weight * scale - base[i / 2 % 2]);
                sum[i / 2 % 2] += weight;
            }
            add_products<L>(&y, part, values + j * L::LD);
        }
    }

    __device__ void tile(const typename L::type *keys, const typename L::type *values, int64_t from, int rows,
                         int)
    {
        pairs.begin(from, rows);
#pragma unroll 1
        for (int first = 0; first < L::ROWS && first < rows; first += AT_ONCE)
            attend_to(keys + first * L::LD, values + first * L::LD, first, rows - first);
    }
};

template <class L, class PAIRS>
__global__ void __launch_bounds__(ATTENTION_THREADS, blocks_at_once<L, PAIRS>)
    tensor_attend(struct attention_args a, struct head_columns h, float scale, const PAIRS pairs)
{
    alignas(16) __shared__ typename L::type shared[L::SHARED];
    const lane_place p;
    struct row_block b = block_of(a.graphs, BLOCK_ROWS);
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.z;
    tensor_softmax<L, PAIRS> s = {};
    s.pairs = pairs;
    s.pairs.enter(b, h.number, true, a.bias, {});
    s.scale = scale;
    s.top[0] = s.top[1] = PAIRS::LOWEST;
    load_strip<L>(&s.q, shared, a.q, b, h);
    sweep_strips<L>(&s, shared, a.k, a.v, b, h);
    float inverse[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float sum = team_sum(WHOLE_WARP, QUAD, s.sum[r]);
        inverse[r] = 1 / PAIRS::bounded(sum, FLT_MIN);
        if (a.lse.rows > 0 && p.in_group == 0 && p.row(2 * r) < b.rows)
            *double_entry(a.lse, b.first + p.row(2 * r), h.number) = softmax_lse(s.top[r] * scale, sum);
    }
    put_strip<L>(a.y, b, h, s.y, inverse);
}

template <class A> struct forward {
    template <int DH> static cuda_status launch(const struct attention_args *a)
    {
        const struct mat all[] = {a->y, a->q, a->k, a->v};
        struct head_columns h = head_columns_of(a->q.cols / a->heads, all, 4);
        if constexpr (!biases<A, DH>)
            if (mat_present(a->bias)) {
                cuda_attention(a);
                return cudaSuccess;
            }
        return with_pairs<typename A::type, false, biases<A, DH>, weighs<A>>(
            a, 0, sqrtf((float)h.dh), [=](auto pairs) {
                return run(a->call, launch_strips(a->q.rows, a->graphs, a->heads),
                           tensor_attend<tensor_tile_for<A, DH>, decltype(pairs)>, *a, h,
                           (float)(1 / sqrt((double)h.dh)) * LOG2E, pairs);
            });
    }
};
} // namespace

extern "C" void cuda_attention_tf32(const void *args)
{
    run_attention<forward<in_tf32>>(__func__, (const struct attention_args *)args);
}

extern "C" void cuda_attention_3xtf32(const void *args)
{
    run_attention<forward<in_3xtf32>>(__func__, (const struct attention_args *)args);
}

extern "C" void cuda_attention_bf16(const void *args)
{
    run_attention<forward<in_bf16>>(__func__, (const struct attention_args *)args);
}
