/*
 * Backward of linear attention by random features, as in ref/performer.c. Gradients of q, k and v have a row
 * for each node, and sum over features: answer by answer, as in performer.cu. Those of s, l and sum are sums
 * over the nodes of each graph (feature_sums).
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/performer_sums.cuh"

namespace
{
/*
 * z = q or k, whose gradient is dz. The gradient of a feature is x . a + factor b: of a query x = dy / den
 * and factor = -(dy . y) / den, of a key x = v, a = ds, b = dl and factor = 1.
 */
struct node_work {
    struct random_features f;
    struct graph_blocks blocks; /* of SIDE nodes */
    struct mat dz, z, x, a, b;
    struct mat y, den, peak; /* absent for keys */
    struct mat dv;           /* absent for queries */
};

__device__ void put_sums(const struct mat &to, const struct place_of_work &at, int64_t i, int64_t cols,
                         const float (&sums)[PARTS])
{
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        int64_t k = at.strip * COLUMNS + tile_column() + p * WARP;
        if (k < cols)
            put(to, i, at.head * cols + k, sums[p]);
    }
}

/* The rows of dz, from sums of g w and of g. */
__device__ void put_gradients(const struct node_work &w, const struct place_of_work &at, const struct part &z,
                              const struct tile_sums &sums, const float (&own)[OWN])
{
#pragma unroll
    for (int n = 0; n < OWN; n++) {
        float all = team_sum(WHOLE_WARP, WARP, own[n]), gradient[PARTS];
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            float row = z.at(tile_row(n), at.strip * COLUMNS + tile_column() + p * WARP);
            gradient[p] = w.f.exponential ? (sums.at[n][p] - all * row) * w.f.scale : sums.at[n][p];
        }
        if (tile_row(n) < z.rows)
            put_sums(w.dz, at, z.first + tile_row(n), w.f.w.cols, gradient);
    }
}

template <bool KEYS> __global__ void __launch_bounds__(BLOCK, 2) node_gradients(const struct node_work w)
{
    __shared__ struct tiles t;
    const struct random_features &f = w.f;
    int64_t count = w.blocks.count * f.heads * f.strips();
    for (int64_t number = blockIdx.x; number < count; number += gridDim.x) {
        struct place_of_work at = place_of_number(f, number, 1);
        struct row_block b = graph_block(w.blocks, at.block);
        struct part z = f.scaled(w.z, b, 0, at.head), x = f.nodes(w.x, b, 0, at.head);
        float shift[OWN], factor[OWN], own[OWN] = {};
        struct tile_sums sums = {}, values = {};
#pragma unroll
        for (int n = 0; n < OWN; n++) {
            int r = tile_row(n);
            shift[n] = f.half_square(z, r);
            factor[n] = 1;
            if (!KEYS && r < z.rows) {
                shift[n] += *entry(w.peak, z.first + r, at.head);
                factor[n] =
                    -row_product(x, f.nodes(w.y, b, 0, at.head), r) / *entry(w.den, z.first + r, at.head);
            }
        }
        x.den = w.den;
        for (int64_t from = 0; from < f.w.rows; from += SIDE) {
            struct part a = f.rows_of_features(w.a, b.graph, at.head, from), rows = f.rows_of_w(from);
            struct part b_rows = f.rows_of_features(w.b, b.graph, at.head, from);
            float u[OWN], slope[OWN];
            products(u, t, z, rows);
            products(slope, t, x, a);
#pragma unroll
            for (int n = 0; n < OWN; n++) {
                bool inside = from + tile_column() < f.w.rows;
                float e = f.of(u[n], shift[n]), gate = f.exponential ? e : u[n] > 0 ? 1 : 0;
                slope[n] = inside ? (slope[n] + factor[n] * b_rows.at(tile_column(), 0)) * gate : 0;
                own[n] += slope[n];
                u[n] = inside ? e : 0;
            }
            accumulate(sums, t, slope, rows.strip(at.strip * COLUMNS));
            if (KEYS)
                accumulate(values, t, u, a.strip(at.strip * COLUMNS));
        }
        put_gradients(w, at, z, sums, own);
#pragma unroll
        for (int n = 0; n < OWN && KEYS; n++)
            if (tile_row(n) < z.rows)
                put_sums(w.dv, at, z.first + tile_row(n), f.w.cols, values.at[n]);
    }
}

template <bool KEYS> cuda_status run_nodes(const struct call &call, const struct node_work &w)
{
    return run(call, launch_blocks(work_count(w.f, w.blocks.count, 1), 1), node_gradients<KEYS>, w);
}

/* Sums of total dy / den over blocks of nodes, column by column. */
struct share_parts {
    struct mat parts, dy, den, total;
    struct graph_blocks blocks;
    int64_t width; /* of a head */

    template <int V> __device__ void at(int64_t number, int64_t k) const
    {
        struct row_block b = graph_block(blocks, number);
        float sum = 0;
        for (int64_t i = b.first; i < b.first + b.rows; i++)
            sum += *entry(total, i, k / width) * *entry(dy, i, k) / *entry(den, i, k / width);
        *entry(parts, number, k) = sum;
    }
};

struct share_totals {
    struct mat dsum, parts;
    struct graph_blocks blocks;
    float eps;

    template <int V> __device__ void at(int64_t graph, int64_t k) const
    {
        int64_t first = graph_block_first(blocks, graph);
        double sum = 0;
        for (int64_t n = first; n < first + graph_block_count(blocks, graph); n++)
            sum += *entry(parts, n, k);
        put(dsum, graph, k, (float)(eps * sum));
    }
};

/* Scratch of the gradients of queries: what they read of keys, then parts of sums over nodes. */
struct query_scratch {
    struct key_facts keys;
    struct mat parts, shares;
    int64_t bytes;
};

struct query_scratch query_scratch_of(const struct performer_attention_backward_args *a)
{
    struct query_scratch s;
    int64_t graphs = graph_count(a->graphs);
    s.keys = key_facts_at(a->call, a->s, graphs, a->heads);
    int64_t before = key_facts_bytes(s.keys);
    s.parts = feature_parts(a->call, before, a->q, a->w, a->graphs, a->heads);
    before += part_bytes(s.parts);
    s.shares =
        scratch_mat(a->call, before, block_count(a->q.rows, graphs, feature_block(a->q.rows)), a->q.cols);
    s.bytes = before + part_bytes(s.shares);
    return s;
}

cuda_status run_shares(const struct performer_attention_backward_args *a, struct mat parts,
                       struct graph_blocks blocks, float eps)
{
    const struct share_parts f = {parts, a->dy, a->den, a->total, blocks, a->w.cols};
    const struct share_totals to = {a->dsum, parts, blocks, eps};
    cuda_status status = run_each(a->call, blocks.count, a->dy.cols, f);
    return status.fault ? status : run_each(a->call, a->dsum.rows, a->dsum.cols, to);
}
} // namespace

extern "C" void cuda_performer_keys_backward(const void *args)
{
    const struct performer_keys_backward_args *a = (const struct performer_keys_backward_args *)args;
    const struct node_work w = {features_of(a->w, a->heads, a->features, 0),
                                graph_blocks_of(a->graphs, a->k.rows, SIDE),
                                a->dk,
                                a->k,
                                a->v,
                                a->ds,
                                a->dl,
                                {},
                                {},
                                {},
                                a->dv};
    if (mat_present(a->dk))
        CUDA_CHECK(a->call, run_nodes<true>(a->call, w));
}

extern "C" void cuda_performer_attention_backward(const void *args)
{
    const struct performer_attention_backward_args *a =
        (const struct performer_attention_backward_args *)args;
    const struct random_features f = features_of(a->w, a->heads, a->features, a->eps);
    struct query_scratch s = query_scratch_of(a);
    struct graph_blocks blocks = graph_blocks_of(a->graphs, a->q.rows, feature_block(a->q.rows));
    const struct node_work w = {f,        graph_blocks_of(a->graphs, a->q.rows, SIDE),
                                a->dq,    a->q,
                                a->dy,    s.keys.a,
                                s.keys.b, a->y,
                                a->den,   a->peak,
                                {}};
    const struct feature_sums sums = {f, blocks, a->q, a->dy, a->y, a->den, a->peak, s.keys.c, s.parts};
    const struct feature_totals to = {a->ds, a->dl, {}};
    CUDA_CHECK(a->call, run_key_facts(a, f, s.keys));
    CUDA_CHECK(a->call, run_nodes<false>(a->call, w));
    CUDA_CHECK(a->call, run_feature_sums(a->call, sums, to));
    CUDA_CHECK(a->call, run_shares(a, s.shares, blocks, f.eps));
}

extern "C" int64_t cuda_performer_attention_backward_scratch(const void *args)
{
    return query_scratch_of((const struct performer_attention_backward_args *)args).bytes;
}
