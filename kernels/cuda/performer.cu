/*
 * Linear attention by random features, as in ref/performer.c: sums over the keys, then what each query makes
 * of them. Tiles and blocks: performer.cuh. A query's largest W z is found first, so features are computed
 * twice.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/performer_sums.cuh"

namespace
{
struct query_work {
    struct random_features f;
    struct graph_blocks blocks; /* of SIDE nodes */
    struct key_facts keys;
    struct mat y, den, peak, total, q;
};

/* The largest W z of each row. */
__device__ void find_peaks(float (&peak)[OWN], struct tiles &t, const struct random_features &f,
                           const struct part &z)
{
#pragma unroll
    for (int n = 0; n < OWN; n++)
        peak[n] = -INFINITY;
    for (int64_t from = 0; from < f.w.rows; from += SIDE) {
        float u[OWN];
        products(u, t, z, f.rows_of_w(from));
#pragma unroll
        for (int n = 0; n < OWN; n++)
            peak[n] = from + tile_column() < f.w.rows ? larger_of(peak[n], u[n]) : peak[n];
    }
#pragma unroll
    for (int n = 0; n < OWN; n++)
        peak[n] = team_max(WHOLE_WARP, WARP, peak[n]);
}

__device__ void put_query(const struct query_work &w, const struct place_of_work &at, int64_t i,
                          const float *sums, float den, float peak, float total)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        int64_t k = at.strip * COLUMNS + tile_column() + p * WARP;
        if (k < w.f.w.cols)
            *entry(w.y, i, at.head * w.f.w.cols + k) = sums[p] / den;
    }
    if (at.strip > 0 || tile_column() > 0)
        return;
    if (present(w.den))
        *entry(w.den, i, at.head) = den;
    if (present(w.peak))
        *entry(w.peak, i, at.head) = peak;
    if (present(w.total))
        *entry(w.total, i, at.head) = total;
}

__global__ void __launch_bounds__(BLOCK, 2) answer_queries(const struct query_work w)
{
    __shared__ struct tiles t;
    const struct random_features &f = w.f;
    int64_t count = w.blocks.count * f.heads * f.strips();
    for (int64_t number = blockIdx.x; number < count; number += gridDim.x) {
        struct place_of_work at = place_of_number(f, number, 1);
        struct row_block b = graph_block(w.blocks, at.block);
        struct part z = f.scaled(w.q, b, 0, at.head);
        float peak[OWN], half[OWN], den[OWN] = {}, total[OWN] = {};
        struct tile_sums sums = {};
        find_peaks(peak, t, f, z);
#pragma unroll
        for (int n = 0; n < OWN; n++)
            half[n] = f.half_square(z, tile_row(n));
        for (int64_t from = 0; from < f.w.rows; from += SIDE) {
            struct part b_rows = f.rows_of_features(w.keys.b, b.graph, at.head, from);
            float u[OWN];
            products(u, t, z, f.rows_of_w(from));
#pragma unroll
            for (int n = 0; n < OWN; n++) {
                bool inside = from + tile_column() < f.w.rows;
                u[n] = inside ? f.of(u[n], half[n] + peak[n]) + f.eps : 0;
                den[n] += u[n] * b_rows.at(tile_column(), 0);
                total[n] += u[n];
            }
            accumulate(sums, t, u,
                       f.rows_of_features(w.keys.a, b.graph, at.head, from).strip(at.strip * COLUMNS));
        }
#pragma unroll
        for (int n = 0; n < OWN; n++) {
            den[n] = team_sum(WHOLE_WARP, WARP, den[n]);
            total[n] = team_sum(WHOLE_WARP, WARP, total[n]);
            if (tile_row(n) < b.rows)
                put_query(w, at, b.first + tile_row(n), sums.at[n], den[n], peak[n], total[n]);
        }
    }
}

struct mat parts_of(const struct performer_keys_args *a)
{
    return feature_parts(a->call, 0, a->k, a->w, a->graphs, a->heads);
}
} // namespace

extern "C" void cuda_performer_keys(const void *args)
{
    const struct performer_keys_args *a = (const struct performer_keys_args *)args;
    const struct feature_sums w = {features_of(a->w, a->heads, a->features, 0),
                                   graph_blocks_of(a->graphs, a->k.rows, feature_block(a->k.rows)),
                                   a->k,
                                   a->v,
                                   {},
                                   {},
                                   {},
                                   {},
                                   parts_of(a)};
    const struct feature_totals to = {a->s, a->l, a->top};
    CUDA_CHECK(a->call, run_feature_sums(a->call, w, to));
}

extern "C" int64_t cuda_performer_keys_scratch(const void *args)
{
    return part_bytes(parts_of((const struct performer_keys_args *)args));
}

extern "C" void cuda_performer_attention(const void *args)
{
    const struct performer_attention_args *a = (const struct performer_attention_args *)args;
    const struct random_features f = features_of(a->w, a->heads, a->features, a->eps);
    const struct query_work w = {f,
                                 graph_blocks_of(a->graphs, a->q.rows, SIDE),
                                 key_facts_at(a->call, a->s, graph_count(a->graphs), a->heads),
                                 a->y,
                                 a->den,
                                 a->peak,
                                 a->total,
                                 a->q};
    CUDA_CHECK(a->call, run_key_facts(a, f, w.keys));
    CUDA_CHECK(a->call, run(a->call, launch_blocks(work_count(f, w.blocks.count, 1), 1), answer_queries, w));
}

extern "C" int64_t cuda_performer_attention_scratch(const void *args)
{
    const struct performer_attention_args *a = (const struct performer_attention_args *)args;
    return key_facts_bytes(key_facts_at(a->call, a->s, graph_count(a->graphs), a->heads));
}
