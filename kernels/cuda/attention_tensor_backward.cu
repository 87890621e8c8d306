/*
 * Backward of dense attention (attention_backward.cu) on tensor cores: operands of products in TF32, as sums
 * of two in TF32, or in bf16, that is, q, k, v, dy, p and ds (attention_tensor.cuh). delta is the product of
 * dy and y by the same sums, so that where one key has all of p, and y is its v, dy v' - delta is 0.
 *
 * `tensor_queries` holds queries, sweeps over keys, and computes dq, dbias, and delta, which it stores in
 * scratch; `tensor_keys` holds keys, sweeps over queries, and computes dk and dv: for the widest heads of
 * floats, or with weights of keys, in two launches, since a thread has no registers for both.
 */
#include "kernels/cuda/attention_tensor.cuh"

namespace
{
struct tensor_plan {
    struct mat delta; /* H x N, in scratch */
    struct head_columns head;
    float scale;
};

/* Whether a thread has registers for four strips: two factors, and two sums. */
template <class L, class PAIRS>
constexpr bool fits = L::DH < ATTENTION_MOST || !(L::FLOATS || PAIRS::WEIGHED);

/* Groups of DEPTH rows of a tile that are multiplied with a strip's entries once these are split. */
template <class L> constexpr int together = L::SPLITS &&L::DH <= 32 ? 2 : 1;

/* Times that a loop over a tile's rows is unrolled: more would spill registers. */
template <class L> constexpr int unrolled = L::DH < ATTENTION_MOST &&L::ROUNDS ? 2 : 1;

/* lse as an exponent of 2, rounded as scores are. */
__device__ inline float base_of(double lse)
{
    return softmax_base_of(lse).high;
}

/* A warp's queries. */
template <class L, class PAIRS> struct strip_of_queries {
    strip<L> q, dy;
    strip_sums<L> dq;
    float lse[2], delta[2], scale;
    PAIRS pairs;

    __device__ void begin(int64_t, int, int)
    {
    }

    __device__ void tile(const typename L::type *keys, const typename L::type *values, int64_t from, int rows,
                         int)
    {
        const int GROUPS = together<L>;
        pairs.begin(from, rows);
#pragma unroll(unrolled <L>)
        for (int first = 0; first < L::ROWS; first += GROUPS * L::DEPTH) {
            float scores[GROUPS][L::PARTS][4] = {}, all_ds[GROUPS][L::PARTS][4] = {};
            add_dots<L>(scores, q, keys + first * L::LD);
            add_biases(scores, pairs, first);
            add_dots<L>(all_ds, dy, values + first * L::LD);
#pragma unroll
            for (int j = 0; j < GROUPS; j++) {
                float(&ds)[L::PARTS][4] = all_ds[j];
                int row = first + j * L::DEPTH;
#pragma unroll
                for (int n = 0; n < L::PARTS; n++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        ds[n][i] =
                            exp2_flushed(scores[j][n][i] * scale - lse[i / 2]) * (ds[n][i] - delta[i / 2]);
                if (rows < L::ROWS)
                    set_beyond(ds, rows - row, 0);
                if constexpr (PAIRS::BIASED)
                    for_pairs(ds, row, [&](float x, int own, int swept) { pairs.put(own, swept, x); });
                add_products<L>(&dq, ds, keys + row * L::LD);
            }
        }
    }
};

/* What of a warp's keys is computed. */
enum { DK = 1, DV = 2 };

template <class L, int WANTED, class PAIRS> struct strip_of_keys {
    strip<L> k, v;
    strip_sums<L> dk, dv;
    struct mat all_lse, all_delta; /* N x H, H x N */
    int head;
    float scale;
    float *lse, *delta; /* of the queries of both stages' tiles, in shared memory */
    PAIRS pairs;

    /* Missing queries have weight 0. */
    __device__ void begin(int64_t from, int rows, int stage)
    {
        for (int i = threadIdx.x; i < L::ROWS; i += ATTENTION_THREADS) {
            lse[stage * L::ROWS + i] =
                i < rows ? PAIRS::bounded(base_of(*double_entry(all_lse, from + i, head)), PAIRS::LOWEST)
                         : INFINITY;
            delta[stage * L::ROWS + i] = i < rows ? *entry(all_delta, head, from + i) : 0;
        }
    }

    __device__ void tile(const typename L::type *queries, const typename L::type *gradients, int64_t from,
                         int rows, int stage)
    {
        pairs.begin(from, rows);
        const lane_place p;
        const int GROUPS = together<L>;
#pragma unroll(unrolled <L>)
        for (int first = 0; first < L::ROWS; first += GROUPS * L::DEPTH) {
            float shares[GROUPS][L::PARTS][4] = {}, all_ds[GROUPS][L::PARTS][4] = {};
            add_dots<L>(shares, k, queries + first * L::LD);
            add_biases(shares, pairs, first);
            if constexpr (WANTED & DK)
                add_dots<L>(all_ds, v, gradients + first * L::LD);
#pragma unroll
            for (int j = 0; j < GROUPS; j++) {
                float(&share)[L::PARTS][4] = shares[j], (&ds)[L::PARTS][4] = all_ds[j];
                int row = first + j * L::DEPTH;
#pragma unroll
                for (int n = 0; n < L::PARTS; n++)
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        int query = stage * L::ROWS + row + n * STEP + p.column(i);
                        share[n][i] = exp2_flushed(share[n][i] * scale - lse[query]);
                        ds[n][i] = share[n][i] * (ds[n][i] - delta[query]);
                    }
                if constexpr (WANTED & DK)
                    add_products<L>(&dk, ds, queries + row * L::LD);
                if constexpr (WANTED & DV)
                    add_products<L>(&dv, share, gradients + row * L::LD);
            }
        }
    }
};

/*
 * lse and delta of the warp's queries; missing queries have weight 0. delta is the diagonal of dy y', of
 * which a lane has the columns 2 in_group and the next of its rows, in each half of the strip.
 */
template <class L, class PAIRS>
__device__ inline void load_bases(strip_of_queries<L, PAIRS> *s, typename L::type *shared,
                                  const struct attention_backward_args &a, struct row_block b,
                                  struct head_columns h)
{
    const lane_place p;
    float dots[STRIP / L::DEPTH][L::PARTS][4] = {};
    load_block<L>(shared, a.y, b, h);
    add_dots<L>(dots, s->dy, shared + p.first * L::LD);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = p.row(2 * r), own = p.group % 2;
        const float(&half)[4] = dots[r / L::PARTS][r % L::PARTS];
        float dot = own ? half[2 * r + 1] : half[2 * r];
        s->delta[r] = team_sum(WHOLE_WARP, QUAD, p.group / 2 == p.in_group ? dot : 0);
        s->lse[r] = row < b.rows ? PAIRS::bounded(base_of(*double_entry(a.lse, b.first + row, h.number)),
                                                  PAIRS::LOWEST)
                                 : INFINITY;
    }
}

template <class L, class PAIRS>
__global__ void __launch_bounds__(ATTENTION_THREADS, blocks_at_once<L, PAIRS>)
    tensor_queries(struct attention_backward_args a, struct tensor_plan plan, const PAIRS pairs)
{
    alignas(16) __shared__ typename L::type shared[L::SHARED];
    const lane_place p;
    struct row_block b = block_of(a.graphs, BLOCK_ROWS);
    struct head_columns h = plan.head;
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.z;
    strip_of_queries<L, PAIRS> s = {};
    s.pairs = pairs;
    s.pairs.enter(b, h.number, true, a.bias, a.dbias);
    s.scale = plan.scale * LOG2E;
    load_strip<L>(&s.dy, shared, a.dy, b, h);
    load_bases<L>(&s, shared, a, b, h);
    load_strip<L>(&s.q, shared, a.q, b, h);
    sweep_strips<L>(&s, shared, a.k, a.v, b, h);
    b = block_of(a.graphs, BLOCK_ROWS); /* meanwhile not in registers, of which the widest heads need all */
#pragma unroll
    for (int r = 0; r < 2; r++)
        if (p.in_group == 0 && p.row(2 * r) < b.rows)
            *entry(plan.delta, h.number, b.first + p.row(2 * r)) = s.delta[r];
    put_strip<L>(a.dq, b, h, s.dq, {plan.scale, plan.scale});
}

template <class L, int WANTED, class PAIRS>
__global__ void __launch_bounds__(ATTENTION_THREADS, L::DH > 32 ? 1 : blocks_at_once<L, PAIRS>)
    tensor_keys(struct attention_backward_args a, struct tensor_plan plan, const PAIRS pairs)
{
    alignas(16) __shared__ typename L::type shared[L::SHARED];
    __shared__ float lse[2 * L::ROWS], delta[2 * L::ROWS];
    struct row_block b = block_of(a.graphs, BLOCK_ROWS);
    struct head_columns h = plan.head;
    if (b.rows == 0)
        return;
    h.number = (int)blockIdx.z;
    strip_of_keys<L, WANTED, PAIRS> s = {};
    s.pairs = pairs;
    s.pairs.enter(b, h.number, false, a.bias, a.dbias);
    s.all_lse = a.lse;
    s.all_delta = plan.delta;
    s.head = h.number;
    s.scale = plan.scale * LOG2E;
    s.lse = lse;
    s.delta = delta;
    load_strip<L>(&s.k, shared, a.k, b, h);
    if constexpr (WANTED & DK)
        load_strip<L>(&s.v, shared, a.v, b, h);
    sweep_strips<L>(&s, shared, a.q, a.dy, b, h);
    b = block_of(a.graphs, BLOCK_ROWS); /* as in tensor_queries */
    if constexpr (WANTED & DK)
        put_strip<L>(a.dk, b, h, s.dk, {plan.scale, plan.scale});
    if constexpr (WANTED & DV)
        put_strip<L>(a.dv, b, h, s.dv, {1, 1});
}

struct tensor_plan tensor_plan_of(const struct attention_backward_args *a)
{
    const struct mat all[] = {a->dq, a->dk, a->dv, a->dy, a->y, a->q, a->k, a->v};
    struct head_columns h = head_columns_of(a->q.cols / a->heads, all, sizeof all / sizeof *all);
    return {scratch_mat(a->call, 0, a->heads, a->q.rows), h, (float)(1 / sqrt((double)h.dh))};
}

/* Scratch: delta, then the pairs of graphs; less than cuda_attention_backward_scratch has. */
int64_t delta_bytes(const struct attention_backward_args *a)
{
    return scratch_bytes(mat_size(tensor_plan_of(a).delta), sizeof(float));
}

template <class A> struct backward {
    template <int DH> static cuda_status launch(const struct attention_backward_args *a)
    {
        typedef tensor_tile_for<A, DH> L;
        if constexpr (!biases<A, DH>)
            if (mat_present(a->bias)) {
                cuda_attention_backward(a);
                return cudaSuccess;
            }
        struct launch l = launch_strips(a->q.rows, a->graphs, a->heads);
        struct tensor_plan plan = tensor_plan_of(a);
        return with_pairs<typename A::type, false, biases<A, DH>, weighs<A>>(
            a, delta_bytes(a), sqrtf((float)plan.head.dh), [=](auto pairs) {
                typedef decltype(pairs) PAIRS;
                cuda_status status = run(a->call, l, tensor_queries<L, PAIRS>, *a, plan, pairs);
                if (status.fault)
                    return status;
                if constexpr (fits<L, PAIRS>) {
                    return run(a->call, l, tensor_keys<L, DK | DV, PAIRS>, *a, plan, pairs);
                } else {
                    status = run(a->call, l, tensor_keys<L, DK, PAIRS>, *a, plan, pairs);
                    return status.fault ? status
                                        : run(a->call, l, tensor_keys<L, DV, PAIRS>, *a, plan, pairs);
                }
            });
    }
};
} // namespace

extern "C" void cuda_attention_backward_tf32(const void *args)
{
    run_attention<backward<in_tf32>>(__func__, (const struct attention_backward_args *)args);
}

extern "C" void cuda_attention_backward_3xtf32(const void *args)
{
    run_attention<backward<in_3xtf32>>(__func__, (const struct attention_backward_args *)args);
}

extern "C" void cuda_attention_backward_bf16(const void *args)
{
    run_attention<backward<in_bf16>>(__func__, (const struct attention_backward_args *)args);
}
