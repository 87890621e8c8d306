/*
 * Shared parts of the dense attention kernels: the layout of a head's rows in the registers of a warp.
 *
 * A thread block holds a block of rows of one graph and one head (queries, or keys in half of the backward
 * pass) in registers and sweeps over all opposite rows of the graph, which are staged through shared memory
 * in tiles. All WARPS warps of the block hold the same rows and process different batches of each tile; their
 * partial sums are combined at the end in a fixed order. So short graphs have parallelism too, and results
 * depend only on shapes.
 *
 * In a warp, LANES = DH / COLUMNS consecutive threads share a row and split its columns; there are GROUPS
 * rows side by side and each thread holds ROWS of them, GROUPS apart: row r of group g is r GROUPS + g. A
 * thread's columns are pieces of PIECE, interleaved with those of its neighbours, so that a row of a tile is
 * read without bank conflicts, one broadcast per piece for ROWS products. DH is the head width dh, rounded up
 * to one for which there is a kernel: columns beyond dh are zero in registers and tiles.
 */
#ifndef GTMARK_KERNELS_CUDA_ATTENTION_CUH
#define GTMARK_KERNELS_CUDA_ATTENTION_CUH

#include "kernels/cuda/math.h"
#include "kernels/cuda/pairs.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/search.h"
#include "kernels/mask.h"

enum {
    WARPS = ATTENTION_THREADS / WARP,
    MOST_COLUMNS = 16,
    PIECE = 4,   /* columns per load */
    PADDING = 4, /* tiles are zero-padded to a multiple of it */
};

template <int DH> struct layout {
    static constexpr int COLUMNS = DH < MOST_COLUMNS ? DH : MOST_COLUMNS;
    static constexpr int LANES = DH / COLUMNS;
    static constexpr int GROUPS = WARP / LANES;
    static constexpr int TILE = DH <= 32 ? 128 : 4096 / DH; /* rows; a tile has at most 16 KiB */
};

/* A thread's columns of ROWS rows. */
template <int DH, int ROWS> struct rows_of {
    float at[ROWS][layout<DH>::COLUMNS];
};

/* The columns of one head in a matrix with `dh` columns per head. */
struct head {
    int number, dh;
};

/* The thread's position. */
template <int DH> struct place {
    int warp, lane, part, group;
    __device__ place()
        : warp(threadIdx.x / WARP), lane(threadIdx.x % WARP), part(lane % layout<DH>::LANES),
          group(lane / layout<DH>::LANES)
    {
    }
    /* This thread's row r, as a row of the block. */
    __device__ int row(int r) const
    {
        return r * layout<DH>::GROUPS + group;
    }
    /* This thread's column c, as a column of the head. */
    __device__ int column(int c) const
    {
        return (c / PIECE * layout<DH>::LANES + part) * PIECE + c % PIECE;
    }
};

/*
 * Loads rows first .. first + rows - 1 of m times `scale`, zero-padded to a multiple of PADDING, with all
 * threads of the block; in pieces if they are aligned.
 */
template <int DH>
__device__ static inline void load_tile(float *tile, struct mat m, float scale, int64_t first, int rows,
                                        struct head h, bool aligned)
{
    int padded = (rows + PADDING - 1) / PADDING * PADDING;
    const float *from = entry(m, first, (int64_t)h.number * h.dh);
    if (aligned) {
        const int pieces = DH / PIECE;
        for (int at = threadIdx.x; at < padded * pieces; at += ATTENTION_THREADS) {
            int row = at / pieces, column = at % pieces * PIECE;
            vec<PIECE> v = {};
            if (row < rows && column < h.dh)
                v = load<PIECE>(from + row * m.ld + column) * scale;
            store_shared(tile + at * PIECE, v);
        }
    } else {
        for (int at = threadIdx.x; at < padded * DH; at += ATTENTION_THREADS) {
            int row = at / DH, column = at % DH;
            tile[at] = row < rows && column < h.dh ? scale * from[row * m.ld + column] : 0;
        }
    }
}

/* Rows first .. first + rows - 1 of m (+)= those of a tile, with all threads of the block. */
template <int DH>
__device__ static inline void put_tile(struct mat m, const float *tile, int64_t first, int rows,
                                       struct head h, bool aligned)
{
    float *to = entry(m, first, (int64_t)h.number * h.dh);
    const int width = aligned ? PIECE : 1;
    for (int at = threadIdx.x * width; at < rows * DH; at += ATTENTION_THREADS * width) {
        int row = at / DH, column = at % DH;
        if (column >= h.dh)
            continue;
        if (aligned)
            put(to + row * m.ld + column, m.acc, load<PIECE>(tile + at));
        else
            put(to + row * m.ld + column, m.acc, load<1>(tile + at));
    }
}

/*
 * Rows of block b of m times `scale`, through a tile in shared memory; zero outside the block and the head's
 * columns.
 */
template <int DH, int ROWS>
__device__ static inline void load_rows(rows_of<DH, ROWS> *to, float *shared, struct mat m,
                                        struct row_block b, struct head h, float scale, bool aligned)
{
    static_assert(layout<DH>::GROUPS * ROWS <= layout<DH>::TILE);
    const place<DH> p;
    load_tile<DH>(shared, m, scale, b.first, (int)b.rows, h, aligned);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int c = 0; c < layout<DH>::COLUMNS; c += PIECE) {
            vec<PIECE> v = {};
            if (p.row(r) < b.rows)
                v = load<PIECE>(shared + p.row(r) * DH + p.column(c));
#pragma unroll
            for (int l = 0; l < PIECE; l++)
                to->at[r][c + l] = v.at[l];
        }
    __syncthreads();
}

/* m (+)= scale[r] times row r of the first warp, for entries inside m. All threads of the block must call it.
 */
template <int DH, int ROWS>
__device__ static inline void put_rows(struct mat m, float *shared, struct row_block b, struct head h,
                                       const rows_of<DH, ROWS> &from, const float (&scale)[ROWS],
                                       bool aligned)
{
    const place<DH> p;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int c = 0; c < layout<DH>::COLUMNS; c += PIECE) {
            vec<PIECE> v;
#pragma unroll
            for (int l = 0; l < PIECE; l++)
                v.at[l] = scale[r] * from.at[r][c + l];
            if (p.warp == 0)
                store_shared(shared + p.row(r) * DH + p.column(c), v);
        }
    __syncthreads();
    put_tile<DH>(m, shared, b.first, (int)b.rows, h, aligned);
    __syncthreads(); /* before shared is written again */
}

/*
 * dots[r] = row r . a row of a tile, in all threads that share row r. All threads of the warp must call it.
 */
template <int DH, int ROWS>
__device__ static inline void dot_rows(float (&dots)[ROWS], const rows_of<DH, ROWS> &x, const float *tile_row)
{
    const place<DH> p;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        dots[r] = 0;
#pragma unroll
    for (int c = 0; c < layout<DH>::COLUMNS; c += PIECE) {
        vec<PIECE> v = load<PIECE>(tile_row + p.column(c));
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int l = 0; l < PIECE; l++)
                dots[r] += x.at[r][c + l] * v.at[l];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        dots[r] = team_sum(WHOLE_WARP, layout<DH>::LANES, dots[r]);
}

/* row r += factor[r] times a row of a tile */
template <int DH, int ROWS>
__device__ static inline void add_scaled(rows_of<DH, ROWS> *y, const float (&factor)[ROWS],
                                         const float *tile_row)
{
    const place<DH> p;
#pragma unroll
    for (int c = 0; c < layout<DH>::COLUMNS; c += PIECE) {
        vec<PIECE> v = load<PIECE>(tile_row + p.column(c));
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int l = 0; l < PIECE; l++)
                y->at[r][c + l] += factor[r] * v.at[l];
    }
}

/* Writes a thread's rows to shared memory, and reads them, as [entry][thread of the warp]. */
template <int DH, int ROWS> __device__ static inline void send_rows(float *shared, const rows_of<DH, ROWS> &x)
{
#pragma unroll
    for (int e = 0; e < ROWS * layout<DH>::COLUMNS; e++)
        shared[e * WARP + threadIdx.x % WARP] = x.at[e / layout<DH>::COLUMNS][e % layout<DH>::COLUMNS];
}

/* y += weight[r] times row r as sent */
template <int DH, int ROWS>
__device__ static inline void receive_rows(rows_of<DH, ROWS> *y, const float *shared,
                                           const float (&weight)[ROWS])
{
#pragma unroll
    for (int e = 0; e < ROWS * layout<DH>::COLUMNS; e++)
        y->at[e / layout<DH>::COLUMNS][e % layout<DH>::COLUMNS] +=
            weight[e / layout<DH>::COLUMNS] * shared[e * WARP + threadIdx.x % WARP];
}

/*
 * Which probabilities of a block's rows and the rows swept over are kept: keeps() is 1, or 0, and scale()
 * what those are multiplied by. It scales v, so that dy v' has the bits of delta if one key has all of p. Two
 * types with the same functions: enter() comes first, with the steps in the mask from a row of the block, and
 * from one swept over, to the next; begin() says where the next tile begins.
 */
struct all_pairs {
    static constexpr int BLOCKS = 0; /* per multiprocessor, for kernels with one row per thread: any number */

    __device__ void enter(const struct row_block &, int, bool)
    {
    }
    __device__ void begin(int64_t)
    {
    }
    __device__ float keeps(int, int) const
    {
        return 1;
    }

    __device__ float scale() const
    {
        return 1;
    }
};

/* Dropout: entries of an H x P matrix (kernels/mask.h). */
struct kept_pairs {
    static constexpr int BLOCKS = 1; /* for more, ptxas would spill registers */

    const double *schedule;
    const int64_t *first; /* pairs of each graph, or null (pairs.cuh) */
    int64_t pairs;        /* P */
    struct mask mask;     /* with the key of the site */
    int64_t entry, tile, by_row, by_swept;

    __device__ void enter(const struct row_block &b, int head, bool rows_are_queries)
    {
        int64_t n = b.graph_rows, row = b.first - b.graph_first;
        mask.key = rng_bits(mask.key, (uint64_t)*schedule);
        by_row = rows_are_queries ? n : 1;
        by_swept = rows_are_queries ? 1 : n;
        entry = head * pairs + (first ? first[b.graph] : 0) + row * by_row - b.graph_first * by_swept;
    }
    __device__ void begin(int64_t from)
    {
        tile = entry + from * by_swept;
    }
    /* For a row of the block and one of the tile. */
    __device__ float keeps(int row, int swept) const
    {
        return mask_keeps(mask, tile + row * by_row + swept * by_swept);
    }

    __device__ float scale() const
    {
        return (float)mask.scale;
    }
};

/* Of attention_args, or of those of its gradient; the pairs of graphs are found in scratch at `before`. */
template <class ARGS>
static inline cuda_status kept_pairs_of(const ARGS *a, int64_t before, struct kept_pairs *kept)
{
    struct call call = a->call;
    call.scratch = scratch_at(call, before);
    *kept = {};
    kept->schedule = (const double *)a->schedule.data;
    kept->pairs = a->graphs.pairs;
    kept->mask = mask_of(0, 0, a->p);
    kept->mask.key = a->key;
    return run_pairs(call, a->graphs, &kept->first);
}

/*
 * Processes both tiles of each stretch of the graph's rows in turn, times `scale` and `second_scale`. Each
 * warp calls S::batch(first, second, rows, at) for its batches: S::BATCH rows (a divisor of PADDING) of the
 * tiles, starting at `at`; those beyond `rows` are zero. S::begin(from, rows) loads further data of the
 * batch's rows starting at `from`. Afterwards shared memory may be reused.
 */
template <int DH, class S>
__device__ static inline void sweep(S *state, float *shared, struct mat first, float scale, struct mat second,
                                    float second_scale, struct row_block b, struct head h, bool aligned)
{
    const int TILE = layout<DH>::TILE;
    float *first_tile = shared, *second_tile = shared + TILE * DH;
    for (int64_t from = 0; from < b.graph_rows; from += TILE) {
        int rows = (int)min_of(TILE, b.graph_rows - from);
        load_tile<DH>(first_tile, first, scale, b.graph_first + from, rows, h, aligned);
        load_tile<DH>(second_tile, second, second_scale, b.graph_first + from, rows, h, aligned);
        state->begin(b.graph_first + from, rows);
        __syncthreads();
        for (int at = threadIdx.x / WARP * S::BATCH; at < rows; at += WARPS * S::BATCH)
            state->batch(first_tile, second_tile, rows, at);
        __syncthreads();
    }
}

/*
 * Tree reduction of the warps' states into warp 0: in each step half of the warps send and the others
 * receive. S::send(shared) and S::receive(shared) use S::ENTRIES floats per thread of the warp.
 */
template <class S> __device__ static inline void merge_warps(S *state, float *shared)
{
    const int warp = threadIdx.x / WARP;
    for (int half = WARPS / 2; half > 0; half /= 2) {
        if (warp >= half && warp < 2 * half)
            state->send(shared + (warp - half) * S::ENTRIES * WARP);
        __syncthreads();
        if (warp < half)
            state->receive(shared + warp * S::ENTRIES * WARP);
        __syncthreads();
    }
}

/* Floats of shared memory: two tiles, later reused for what half of the warps send. */
template <int DH, class S> struct shared_floats {
    static constexpr int TILES = 2 * layout<DH>::TILE * DH, SENT = WARPS / 2 * S::ENTRIES * WARP;
    static constexpr int SIZE = TILES > SENT ? TILES : SENT;
};

/* This thread block's rows, for blocks of at most `size`. */
__device__ static inline struct row_block block_of(struct offsets graphs, int size)
{
    return block_at((const int64_t *)graphs.at.data, graphs.at.ld, graph_count(graphs), size, blockIdx.x);
}

/* Whether pieces of rows are aligned in every head of these matrices. */
static inline bool pieces_aligned(const struct mat *m, int count, int dh)
{
    return dh % PIECE == 0 && width_of(m, count) == PIECE;
}

/* OP::launch<DH>(args) with the DH for heads of dh columns; there must be one (attention_width). */
template <class OP, class ARGS> static inline cuda_status launch_for_width(int64_t dh, const ARGS *args)
{
    switch (attention_width(dh)) {
    case 8:
        return OP::template launch<8>(args);
    case 16:
        return OP::template launch<16>(args);
    case 32:
        return OP::template launch<32>(args);
    case 64:
        return OP::template launch<64>(args);
    default:
        return OP::template launch<128>(args);
    }
}

#endif
