/*
 * Embedding, as in ref/embedding.c, and its backward:
 *
 *   y_i = sum over t of table_index(i, t)    dtable_r = sum of dy_i over all (i, t) with index(i, t) = r
 *
 * Backward without atomics: a warp has TABLE_ROWS rows of the table and a chunk of the entries of index. It
 * reads 32 entries at a time, and adds the rows of dy that any of its rows needs. Chunks are added in order
 * by a second kernel. There are as few chunks as keep a large device busy, so a large table has one, and
 * scratch for about one more table.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"

namespace
{
template <class T> struct named_rows {
    struct mat y, table, index;

    __device__ int64_t named(int64_t i, int64_t t) const
    {
        return ((const int64_t *)index.data)[i * index.ld + t];
    }
    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = load<V>(entry<T>(table, named(i, 0), k));
        for (int64_t t = 1; t < index.cols; t++)
            sum = sum + load<V>(entry<T>(table, named(i, t), k));
        store(entry<T>(y, i, k), sum);
    }
};

enum {
    TABLE_ROWS = 4,        /* per warp, whose sums are in registers */
    CHUNK_MIN = 64,        /* entries that make a chunk worthwhile */
    TABLE_WARPS = 1 << 12, /* that keep a large device busy */
};

/* How the entries of an index are divided; from shapes alone. */
struct table_plan {
    int64_t entries, ranges, chunk, chunks;
};

struct table_plan table_plan_of(struct mat dtable, struct mat index)
{
    struct table_plan p;
    p.entries = index.rows * index.cols;
    p.ranges = blocks_of(dtable.rows, TABLE_ROWS);
    p.chunk = max_of(CHUNK_MIN, blocks_of(p.entries, max_of(1, TABLE_WARPS / p.ranges)));
    p.chunk = round_up(p.chunk, WARP);
    p.chunks = blocks_of(p.entries, p.chunk);
    return p;
}

/* The sums of one chunk in rows `first` .. first + TABLE_ROWS - 1 of the table, columns k .. k + V - 1. */
template <int V, class T> struct chunk_sums {
    vec<V> at[TABLE_ROWS];
    int64_t first;

    /* Adds what 32 entries name; each lane has one of them: a row of the table, and one of dy. */
    __device__ void add(int64_t named, int64_t row, struct mat dy, int64_t k)
    {
        int mine = named >= first && named < first + TABLE_ROWS ? (int)(named - first) : -1;
        if (team_max(WHOLE_WARP, WARP, (float)mine) < 0)
            return;
        for (int lane = 0; lane < WARP; lane++) {
            int which = __shfl_sync(WHOLE_WARP, mine, lane);
            int64_t from = __shfl_sync(WHOLE_WARP, row, lane);
            if (which < 0 || k >= dy.cols)
                continue;
            vec<V> x = load<V>(entry<T>(dy, from, k));
#pragma unroll
            for (int r = 0; r < TABLE_ROWS; r++)
                at[r] = r == which ? at[r] + x : at[r];
        }
    }
};

/* Chunk c of row r is row c M + r of `parts`. */
template <int V, class T>
__global__ void __launch_bounds__(BLOCK, 1)
    sum_named(struct table_plan p, int64_t rows, struct mat dy, struct mat index, struct mat parts)
{
    int lane = (int)threadIdx.x % WARP;
    int64_t step = (int64_t)gridDim.x * (BLOCK / WARP);
    for (int64_t n = (int64_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; n < p.ranges * p.chunks;
         n += step)
        for (int64_t first = (int64_t)blockIdx.y * WARP * V; first < dy.cols;
             first += (int64_t)gridDim.y * WARP * V) {
            int64_t chunk = n / p.ranges, end = min_of(p.entries, (chunk + 1) * p.chunk),
                    k = first + lane * V;
            chunk_sums<V, T> sums = {};
            sums.first = n % p.ranges * TABLE_ROWS;
            for (int64_t e = chunk * p.chunk + lane; e - lane < end; e += WARP) {
                int64_t row = e / index.cols;
                int64_t named = e < end ? ((const int64_t *)index.data)[row * index.ld + e % index.cols] : -1;
                sums.add(named, row, dy, k);
            }
#pragma unroll
            for (int r = 0; r < TABLE_ROWS; r++)
                if (sums.first + r < rows && k < dy.cols)
                    store(entry(parts, chunk * rows + sums.first + r, k), sums.at[r]);
        }
}

/* The gradient of a table of parameters is F32, that of rows of nodes has their type. */
struct chunk_totals {
    struct mat dtable, parts;
    int64_t chunks;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = same<V>(0);
        for (int64_t c = 0; c < chunks; c++)
            sum = sum + load<V>(entry(parts, c * dtable.rows + i, k));
        if (dtable.dtype == BF16)
            put(entry<bf16>(dtable, i, k), dtable.acc, sum);
        else
            put(entry(dtable, i, k), dtable.acc, sum);
    }
};

/* Scratch: the sums of each chunk. */
struct mat parts_of(const struct embedding_backward_args *a)
{
    int64_t chunks = mat_present(a->dtable) ? table_plan_of(a->dtable, a->index).chunks : 0;
    return scratch_mat(a->call, 0, chunks * a->dtable.rows, a->dtable.cols);
}
} // namespace

extern "C" void cuda_embedding(const void *args)
{
    const struct embedding_args *a = (const struct embedding_args *)args;
    const struct mat all[] = {a->y, a->table};
    struct lines l = lines_by_row(a->y.rows, a->y.cols, width_of(all, 2));
    CUDA_CHECK(a->call, run_entries<named_rows>(a->call, a->y.dtype, l, a->y, a->table, a->index));
}

extern "C" void cuda_embedding_backward(const void *args)
{
    const struct embedding_backward_args *a = (const struct embedding_backward_args *)args;
    if (!mat_present(a->dtable))
        return;
    struct table_plan p = table_plan_of(a->dtable, a->index);
    struct mat parts = parts_of(a);
    const struct mat all[] = {a->dtable, a->dy, parts};
    int width = width_of(all, 3);
    struct launch plan =
        launch_blocks(blocks_of(p.ranges * p.chunks, BLOCK / WARP), blocks_of(a->dy.cols, WARP * width));
    const chunk_totals f = {a->dtable, parts, p.chunks};
    CUDA_CHECK(a->call, by_type(a->dy.dtype, [&](auto zero) {
                   typedef decltype(zero) T;
                   return run(a->call, plan, width == WIDE ? sum_named<WIDE, T> : sum_named<1, T>, p,
                              a->dtable.rows, a->dy, a->index, parts);
               }));
    CUDA_CHECK(a->call, run_entries(a->call, lines_by_row(a->dtable.rows, a->dtable.cols, width), f));
}

extern "C" int64_t cuda_embedding_backward_scratch(const void *args)
{
    return round_up(mat_bytes(parts_of((const struct embedding_backward_args *)args)), SCRATCH_ALIGNMENT);
}
