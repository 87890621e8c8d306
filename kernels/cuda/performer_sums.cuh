/*
 * What linear attention by random features needs of whole graphs: sums over nodes for each feature, and from
 * them what queries read of keys. In an unnamed namespace, since each source has its own kernels.
 */
#ifndef GTMARK_KERNELS_CUDA_PERFORMER_SUMS_CUH
#define GTMARK_KERNELS_CUDA_PERFORMER_SUMS_CUH

#include "kernels/cuda/performer.cuh"

namespace
{
/*
 * Sums over the nodes of each graph, for each feature e: of e times `values`, C columns; of e times `side`;
 * and the largest W z. They are summed in blocks of nodes, and these in order.
 *
 * Of keys: z = k, values = v, side = 1. Of queries, whose gradients they are: z = q, values = c dy / den,
 * side = -c dy . y / den, of features with the peak and eps.
 */
struct feature_sums {
    struct random_features f;
    struct graph_blocks blocks;
    struct mat z, values;
    struct mat y, den, peak, c; /* absent for keys; c: B H x 1 */
    struct mat parts;           /* scratch: a row for each block, head and row of w, of C + 2 columns */
};

struct feature_totals {
    struct mat s, l, top; /* top may be absent */
};

/* Their scratch, in blocks of size `feature_block`. */
int64_t feature_block(int64_t nodes)
{
    return round_up(max_of(2 * SIDE, nodes / 256), SIDE);
}

struct mat feature_parts(const struct call &call, int64_t before, struct mat nodes, struct mat w,
                         struct offsets graphs, int heads)
{
    int64_t blocks = block_count(nodes.rows, graph_count(graphs), feature_block(nodes.rows));
    return scratch_mat(call, before, blocks * heads * w.rows, w.cols + 2);
}

int64_t part_bytes(struct mat m)
{
    return scratch_bytes(mat_size(m), sizeof(float));
}

/* What the features of a tile of nodes need, in shared memory. */
struct node_facts {
    float shift[SIDE], side[SIDE];
};

__device__ inline void find_facts(struct node_facts &facts, const struct feature_sums &w,
                                  const struct part &z, const struct part &dy, const struct part &y, float c)
{
#pragma unroll
    for (int n = 0; n < OWN; n++) {
        int r = tile_row(n);
        float shift = w.f.half_square(z, r), side = 1;
        if (present(w.den) && r < z.rows) {
            shift += *entry(w.peak, z.first + r, z.head);
            side = -c * row_product(dy, y, r) / *entry(w.den, z.first + r, z.head);
        }
        if (tile_column() == 0) {
            facts.shift[r] = shift;
            facts.side[r] = side;
        }
    }
}

__global__ void __launch_bounds__(BLOCK, 2) sum_features(const struct feature_sums w)
{
    __shared__ struct tiles t;
    __shared__ struct node_facts facts;
    const struct random_features &f = w.f;
    int64_t w_tiles = blocks_of(f.w.rows, SIDE), count = w.blocks.count * f.heads * f.strips() * w_tiles;
    int x = tile_column();
    for (int64_t number = blockIdx.x; number < count; number += gridDim.x) {
        struct place_of_work at = place_of_number(f, number, w_tiles);
        struct row_block b = graph_block(w.blocks, at.block);
        struct part rows = f.rows_of_w(at.tile * SIDE);
        float c = present(w.c) ? *entry(w.c, b.graph * f.heads + at.head, 0) : 1, sides[OWN] = {}, top[OWN];
        struct tile_sums sums = {};
#pragma unroll
        for (int n = 0; n < OWN; n++)
            top[n] = -INFINITY;
        for (int64_t from = 0; from < b.rows; from += SIDE) {
            struct part z = f.scaled(w.z, b, from, at.head), values = f.nodes(w.values, b, from, at.head);
            float u[OWN];
            find_facts(facts, w, z, values, f.nodes(w.y, b, from, at.head), c);
            values.scale = c;
            values.den = w.den;
            products(u, t, rows, z);
#pragma unroll
            for (int n = 0; n < OWN; n++) {
                bool inside = x < z.rows;
                top[n] = inside ? larger_of(top[n], u[n]) : top[n];
                u[n] = inside ? f.of(u[n], facts.shift[x]) + f.eps : 0;
                sides[n] += inside ? u[n] * facts.side[x] : 0;
            }
            accumulate(sums, t, u, values.strip(at.strip * COLUMNS));
        }
#pragma unroll
        for (int n = 0; n < OWN; n++) {
            int64_t row = (at.block * f.heads + at.head) * f.w.rows + rows.first + tile_row(n);
            float side = team_sum(WHOLE_WARP, WARP, sides[n]), most = team_max(WHOLE_WARP, WARP, top[n]);
            if (tile_row(n) >= rows.rows)
                continue;
#pragma unroll
            for (int p = 0; p < PARTS; p++) {
                int64_t k = at.strip * COLUMNS + x + p * WARP;
                if (k < f.w.cols)
                    *entry(w.parts, row, k) = sums.at[n][p];
            }
            if (at.strip == 0 && x == 0) {
                *entry(w.parts, row, f.w.cols) = side;
                *entry(w.parts, row, f.w.cols + 1) = most;
            }
        }
        __syncthreads(); /* before facts are written again */
    }
}

/* A row of F for each graph, head and row of w. */
struct total_entries {
    struct feature_totals to;
    struct graph_blocks blocks;
    struct mat parts;
    int64_t features; /* H M */

    __device__ float sum(int64_t i, int64_t k) const
    {
        int64_t graph = i / features, first = graph_block_first(blocks, graph);
        double sum = 0;
        for (int64_t n = 0; n < graph_block_count(blocks, graph); n++)
            sum += *entry(parts, (first + n) * features + i % features, k);
        return (float)sum;
    }
    __device__ float largest(int64_t i, int64_t k) const
    {
        int64_t graph = i / features, first = graph_block_first(blocks, graph);
        float most = -INFINITY;
        for (int64_t n = 0; n < graph_block_count(blocks, graph); n++)
            most = larger_of(most, *entry(parts, (first + n) * features + i % features, k));
        return most;
    }
    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        put(to.s, i, k, sum(i, k));
        if (k > 0)
            return;
        put(to.l, i, 0, sum(i, parts.cols - 2));
        if (present(to.top))
            *entry(to.top, i, 0) = largest(i, parts.cols - 1);
    }
};

/* Entries of a matrix one at a time: F::at<1>(i, k). */
template <class F> cuda_status run_each(const struct call &call, int64_t rows, int64_t cols, const F &f)
{
    struct lines l = lines_by_row(rows, cols, 1);
    return run(call, lines_launch(l), each_entry<1, F>, l, f);
}

cuda_status run_feature_sums(const struct call &call, const struct feature_sums &w, struct feature_totals to)
{
    int64_t tiles = blocks_of(w.f.w.rows, SIDE);
    cuda_status status = run(call, launch_blocks(work_count(w.f, w.blocks.count, tiles), 1), sum_features, w);
    const struct total_entries f = {to, w.blocks, w.parts, w.f.heads * w.f.w.rows};
    return status.fault ? status : run_each(call, to.s.rows, to.s.cols, f);
}

/* What queries read of the keys of each graph and head, in scratch: a, F x C; b, F x 1; c, B H x 1. */
struct key_facts {
    struct mat a, b, c;
};

struct key_facts key_facts_at(const struct call &call, struct mat s, int64_t graphs, int heads)
{
    struct key_facts k;
    k.a = scratch_mat(call, 0, s.rows, s.cols);
    k.b = scratch_mat(call, part_bytes(k.a), s.rows, 1);
    k.c = scratch_mat(call, part_bytes(k.a) + part_bytes(k.b), graphs * heads, 1);
    return k;
}

int64_t key_facts_bytes(struct key_facts k)
{
    return part_bytes(k.a) + part_bytes(k.b) + part_bytes(k.c);
}

/* c = exp(-largest top) of row i of B H, or 1. */
struct largest_tops {
    struct mat c, top;
    int64_t features; /* M */
    bool exponential;

    template <int V> __device__ void at(int64_t i, int64_t) const
    {
        float most = -INFINITY;
        for (int64_t f = i * features; f < (i + 1) * features && exponential; f++)
            most = larger_of(most, *entry(top, f, 0));
        *entry(c, i, 0) = exponential ? expf(-most) : 1;
    }
};

/* a = c s + eps sum, b = c l + eps n */
struct key_entries {
    struct key_facts to;
    struct mat s, l, sum;
    struct offsets graphs;
    int64_t features, heads;
    float eps;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        int64_t head = i / features, graph = head / heads, column = head % heads * s.cols + k;
        float c = *entry(to.c, head, 0);
        *entry(to.a, i, k) = c * *entry(s, i, k) + eps * *entry(sum, graph, column);
        if (k == 0)
            *entry(to.b, i, 0) = c * *entry(l, i, 0) + eps * (float)graph_size(graphs, graph);
    }
};

/* Of performer_attention_args, or of those of its gradient. */
template <class ARGS>
cuda_status run_key_facts(const ARGS *a, const struct random_features &f, struct key_facts k)
{
    const struct largest_tops tops = {k.c, a->top, f.w.rows, f.exponential};
    const struct key_entries entries = {k, a->s, a->l, a->sum, a->graphs, f.w.rows, f.heads, f.eps};
    cuda_status status = run_each(a->call, k.c.rows, 1, tops);
    return status.fault ? status : run_each(a->call, k.a.rows, k.a.cols, entries);
}
} // namespace

#endif
