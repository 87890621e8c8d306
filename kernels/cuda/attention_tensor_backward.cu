/*
 * Backward of dense attention (attention_backward.cu) on tensor cores: operands of products in TF32, that is,
 * q, k, v, dy, p and ds (attention_tensor.cuh). delta is of the same dy, and of y in TF32, so that where one
 * key has all of p, and y is its v, dy v' - delta is 0.
 *
 * `tensor_queries` holds queries, sweeps over keys, and computes dq, and delta, which it stores in scratch;
 * `tensor_keys` holds keys, sweeps over queries, and computes dk and dv: for the widest heads in two
 * launches, since a thread has no registers for both.
 */
#include "kernels/cuda/attention_tensor.cuh"
#include "kernels/cuda/cuda.h"

namespace
{
struct tensor_plan {
    struct mat delta; /* H x N, in scratch */
    struct head_columns head;
    float scale;
};

/* lse as an exponent of 2, rounded as scores are. */
__device__ inline float base_of(double lse)
{
    return softmax_base_of(lse).high;
}

/* A warp's queries. */
template <int DH> struct strip_of_queries {
    strip<DH> q, dy;
    strip_sums<DH> dq;
    float lse[2], delta[2], scale;

    __device__ void begin(int64_t, int, int)
    {
    }

    __device__ void tile(const float *keys, const float *values, int rows, int)
    {
#pragma unroll(DH < ATTENTION_MOST ? 2 : 1) /* more would spill registers */
        for (int j = 0; j < tensor_tile<DH>::ROWS; j += STEP) {
            float scores[4] = {}, ds[4] = {};
            add_dots<DH>(scores, q, keys + j * tensor_tile<DH>::LD);
            add_dots<DH>(ds, dy, values + j * tensor_tile<DH>::LD);
#pragma unroll
            for (int i = 0; i < 4; i++)
                ds[i] = exp2_flushed(scores[i] * scale - lse[i / 2]) * (ds[i] - delta[i / 2]);
            if (rows < tensor_tile<DH>::ROWS)
                set_beyond(ds, rows - j, 0);
            add_products<DH>(&dq, ds, keys + j * tensor_tile<DH>::LD);
        }
    }
};

/* What of a warp's keys is computed. */
enum { DK = 1, DV = 2 };

template <int DH, int WANTED> struct strip_of_keys {
    static constexpr int ROWS = tensor_tile<DH>::ROWS;

    strip<DH> k, v;
    strip_sums<DH> dk, dv;
    struct mat all_lse, all_delta; /* N x H, H x N */
    int head;
    float scale;
    float *lse, *delta; /* of the queries of both stages' tiles, in shared memory */

    /* Missing queries have weight 0. */
    __device__ void begin(int64_t from, int rows, int stage)
    {
        for (int i = threadIdx.x; i < ROWS; i += ATTENTION_THREADS) {
            lse[stage * ROWS + i] = i < rows ? base_of(*double_entry(all_lse, from + i, head)) : INFINITY;
            delta[stage * ROWS + i] = i < rows ? *entry(all_delta, head, from + i) : 0;
        }
    }

    __device__ void tile(const float *queries, const float *gradients, int, int stage)
    {
        const lane_place p;
#pragma unroll(DH < ATTENTION_MOST ? 2 : 1)
        for (int j = 0; j < ROWS; j += STEP) {
            float share[4] = {}, ds[4] = {};
            add_dots<DH>(share, k, queries + j * tensor_tile<DH>::LD);
            if constexpr (WANTED & DK)
                add_dots<DH>(ds, v, gradients + j * tensor_tile<DH>::LD);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int query = stage * ROWS + j + p.column(i);
                share[i] = exp2_flushed(share[i] * scale - lse[query]);
                ds[i] = share[i] * (ds[i] - delta[query]);
            }
            if constexpr (WANTED & DK)
                add_products<DH>(&dk, ds, queries + j * tensor_tile<DH>::LD);
            if constexpr (WANTED & DV)
                add_products<DH>(&dv, share, gradients + j * tensor_tile<DH>::LD);
        }
    }
};

/* lse and delta of the warp's queries; missing queries have weight 0. */
template <int DH>
__device__ inline void load_bases(strip_of_queries<DH> *s, float *shared,
                                  const struct attention_backward_args &a, struct row_block b,
                                  struct head_columns h)
{
    const lane_place p;
    strip<DH> y;
    load_strip<DH>(&y, shared, a.y, b, h);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = p.row(2 * r);
        float sum = 0;
#pragma unroll
        for (int i = 0; i < DH / STEP; i++)
#pragma unroll
            for (int c = r; c < 4; c += 2)
                sum += __uint_as_float(s->dy.at[i][c]) * __uint_as_float(y.at[i][c]);
        s->delta[r] = team_sum(WHOLE_WARP, QUAD, sum);
        s->lse[r] = row < b.rows ? base_of(*double_entry(a.lse, b.first + row, h.number)) : INFINITY;
    }
}

template <int DH>
__global__ void __launch_bounds__(ATTENTION_THREADS, DH <= 32 ? 4 : 1)
    tensor_queries(struct attention_backward_args a, struct tensor_plan plan)
{
    alignas(16) __shared__ float shared[tensor_tile<DH>::SHARED];
    const lane_place p;
    struct row_block b = tensor_block(a.graphs);
    struct head_columns h = plan.head;
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.y;
    strip_of_queries<DH> s = {};
    s.scale = plan.scale * LOG2E;
    load_strip<DH>(&s.dy, shared, a.dy, b, h);
    load_bases<DH>(&s, shared, a, b, h);
    load_strip<DH>(&s.q, shared, a.q, b, h);
    sweep_tiles<DH>(&s, shared, a.k, a.v, b, h);
    b = tensor_block(a.graphs); /* meanwhile not in registers, of which the widest heads need all */
#pragma unroll
    for (int r = 0; r < 2; r++)
        if (p.in_group == 0 && p.row(2 * r) < b.rows)
            *entry(plan.delta, h.number, b.first + p.row(2 * r)) = s.delta[r];
    put_strip<DH>(a.dq, b, h, s.dq, {plan.scale, plan.scale});
}

template <int DH, int WANTED>
__global__ void __launch_bounds__(ATTENTION_THREADS, DH <= 32 ? 4 : 1)
    tensor_keys(struct attention_backward_args a, struct tensor_plan plan)
{
    const int ROWS = tensor_tile<DH>::ROWS;
    alignas(16) __shared__ float shared[tensor_tile<DH>::SHARED];
    __shared__ float lse[2 * ROWS], delta[2 * ROWS];
    struct row_block b = tensor_block(a.graphs);
    struct head_columns h = plan.head;
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.y;
    strip_of_keys<DH, WANTED> s = {};
    s.all_lse = a.lse;
    s.all_delta = plan.delta;
    s.head = h.number;
    s.scale = plan.scale * LOG2E;
    s.lse = lse;
    s.delta = delta;
    load_strip<DH>(&s.k, shared, a.k, b, h);
    if constexpr (WANTED & DK)
        load_strip<DH>(&s.v, shared, a.v, b, h);
    sweep_tiles<DH>(&s, shared, a.q, a.dy, b, h);
    b = tensor_block(a.graphs); /* as in tensor_queries */
    if constexpr (WANTED & DK)
        put_strip<DH>(a.dk, b, h, s.dk, {plan.scale, plan.scale});
    if constexpr (WANTED & DV)
        put_strip<DH>(a.dv, b, h, s.dv, {1, 1});
}

struct tensor_plan tensor_plan_of(const struct attention_backward_args *a)
{
    const struct mat all[] = {a->dq, a->dk, a->dv, a->dy, a->y, a->q, a->k, a->v};
    int64_t dh = a->q.cols / a->heads;
    return {scratch_mat(a->call, 0, a->heads, a->q.rows),
            {0, (int)dh, heads_aligned(all, sizeof all / sizeof *all, dh)},
            (float)(1 / sqrt((double)dh))};
}

struct backward {
    template <int DH> static cuda_status launch(const struct attention_backward_args *a)
    {
        struct launch l = launch_strips(a->q.rows, a->graphs, a->heads);
        struct tensor_plan plan = tensor_plan_of(a);
        cuda_status status = run(a->call, l, tensor_queries<DH>, *a, plan);
        if (status.fault)
            return status;
        if constexpr (DH < ATTENTION_MOST) {
            return run(a->call, l, tensor_keys<DH, DK | DV>, *a, plan);
        } else {
            status = run(a->call, l, tensor_keys<DH, DK>, *a, plan);
            return status.fault ? status : run(a->call, l, tensor_keys<DH, DV>, *a, plan);
        }
    }
};
} // namespace

extern "C" void cuda_attention_backward_tf32(const void *args)
{
    const struct attention_backward_args *a = (const struct attention_backward_args *)args;
    int64_t dh = a->q.cols / a->heads;
    CUDA_REQUIRE(attention_width(dh), "a head has more than 128 columns");
    CUDA_CHECK(a->call, launch_tensor<backward>(dh, a));
}
