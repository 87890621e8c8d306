/*
 * Two column sums over the rows of a matrix, s and t (gradients of a bias and a gain), in two deterministic
 * steps: blocks sum chunks of rows into `partial`, a 2 x D matrix per chunk, and a second kernel adds the
 * chunks in double. See struct columns.
 */
#ifndef GTMARK_KERNELS_CUDA_COLUMNS_CUH
#define GTMARK_KERNELS_CUDA_COLUMNS_CUH

#include "kernels/cuda/reduce.cuh"

template <int V> struct column_sums {
    vec<V> s, t;
};

static inline int64_t columns_bytes(int64_t chunks, int64_t cols)
{
    return scratch_bytes(chunks * 2 * cols, sizeof(float));
}

/*
 * Adds, in order, the partial sums of the block's teams of `lanes` lanes for columns first .. first + lanes V
 * - 1, V columns per lane, and writes the totals to to[k] and to[D + k], neighbouring columns by neighbouring
 * threads. `shared` has 2 V BLOCK floats. All threads must call it.
 */
template <int V>
static __device__ void write_column_sums(column_sums<V> mine, int lanes, int64_t first, int64_t D, float *to,
                                         float *shared)
{
    const int half = V * BLOCK, cols = V * lanes;
    store_shared(shared + threadIdx.x * V, mine.s);
    store_shared(shared + half + threadIdx.x * V, mine.t);
    __syncthreads();
    for (int number = (int)threadIdx.x; number < 2 * cols; number += BLOCK) {
        int which = number / cols, col = number % cols;
        float sum = 0;
        for (int from = col; from < half; from += cols)
            sum += shared[which * half + from];
        if (first + col < D)
            to[which * D + first + col] = sum;
    }
    __syncthreads(); /* before shared is written again */
}

/* Calls F::enter(i), then F::add(i, k, sums), for each row i, with ascending rows within a thread. */
template <int V, class F>
__global__ void __launch_bounds__(BLOCK, 1) column_partials(struct columns c, const F f, float *partial)
{
    alignas(16) __shared__ float shared[2 * V * BLOCK];
    int lane = (int)threadIdx.x % c.lanes, teams = BLOCK / c.lanes;
    for (int64_t strip = blockIdx.y; strip < c.strips; strip += gridDim.y) {
        int64_t first = strip * c.lanes * V, k = first + (int64_t)lane * V;
        int64_t begin = (int64_t)blockIdx.x * c.chunk, end = min_of(c.rows, begin + c.chunk);
        column_sums<V> sums = {same<V>(0), same<V>(0)};
        F rows = f;
        for (int64_t i = begin + threadIdx.x / c.lanes; i < end && k < c.cols; i += teams) {
            rows.enter(i);
            rows.add(i, k, sums);
        }
        write_column_sums<V>(sums, c.lanes, first, c.cols, partial + blockIdx.x * 2 * c.cols, shared);
    }
}

/*
 * Outputs for the sums of column k: added to s and t if present; their means over `rows` rows are written to
 * the two rows of `means` if present.
 */
struct column_results {
    struct mat s, t;  /* 1 x D */
    struct mat means; /* 2 x D */
    int64_t rows;
};

/*
 * Few columns a block, so that blocks are many, but a sector of them; a team of lanes has a chunk at a time.
 */
enum { TOTAL_COLUMNS = 8, TOTAL_TEAMS = BLOCK / TOTAL_COLUMNS, TOTAL_WARPS = BLOCK / WARP };

/* The sum over a warp's lanes of the same column, in each of them. */
static __device__ inline double same_column(double x)
{
#pragma unroll
    for (int apart = TOTAL_COLUMNS; apart < WARP; apart *= 2)
        x += __shfl_xor_sync(WHOLE_WARP, x, apart);
    return x;
}

static __global__ void __launch_bounds__(BLOCK, 1)
    column_totals(int64_t chunks, int64_t D, const float *partial, struct column_results to)
{
    __shared__ double shared[2][TOTAL_WARPS][TOTAL_COLUMNS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, column = lane % TOTAL_COLUMNS;
    int64_t k = (int64_t)blockIdx.x * TOTAL_COLUMNS + column;
    double s = 0, t = 0;
    for (int64_t c = threadIdx.x / TOTAL_COLUMNS; c < chunks && k < D; c += TOTAL_TEAMS) {
        s += partial[c * 2 * D + k];
        t += partial[(c * 2 + 1) * D + k];
    }
    s = same_column(s);
    t = same_column(t);
    if (lane < TOTAL_COLUMNS) {
        shared[0][warp][column] = s;
        shared[1][warp][column] = t;
    }
    __syncthreads();
    if (threadIdx.x >= TOTAL_COLUMNS || k >= D)
        return;
    for (int other = 1; other < TOTAL_WARPS; other++) {
        s += shared[0][other][column];
        t += shared[1][other][column];
    }
    if (present(to.s))
        put(to.s, 0, k, (float)s);
    if (present(to.t))
        put(to.t, 0, k, (float)t);
    if (present(to.means)) {
        *entry(to.means, 0, k) = (float)(s / (double)to.rows);
        *entry(to.means, 1, k) = (float)(t / (double)to.rows);
    }
}

static inline cuda_status run_column_totals(const struct call &call, int64_t chunks, int64_t D,
                                            const float *partial, struct column_results to)
{
    return run(call, launch_blocks(blocks_of(D, TOTAL_COLUMNS), 1), column_totals, chunks, D, partial, to);
}

template <class F>
static cuda_status run_column_partials(const struct call &call, struct columns c, const F &f, float *partial)
{
    if (c.width == WIDE)
        return run(call, columns_launch(c), column_partials<WIDE, F>, c, f, partial);
    return run(call, columns_launch(c), column_partials<1, F>, c, f, partial);
}

/* Both steps. */
template <class F>
static cuda_status run_columns(const struct call &call, struct columns c, const F &f, float *partial,
                               struct column_results to)
{
    cuda_status status = run_column_partials(call, c, f, partial);
    return status.fault ? status : run_column_totals(call, c.chunks, c.cols, partial, to);
}

#endif
