/*
 * Shared parts of dense attention: the tiles of a sweep. A thread block has rows of one graph and one head,
 * and sweeps over all opposite rows of the graph in tiles of two matrices, of which the next ones are copied
 * to shared memory while these are used.
 */
#ifndef GTMARK_KERNELS_CUDA_ATTENTION_TILES_CUH
#define GTMARK_KERNELS_CUDA_ATTENTION_TILES_CUH

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/heads.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/search.h"

enum { TILE_BYTES = 8192, TILE_ROWS = 64 /* at most */ };

/*
 * Rows in shared memory of heads of DH columns: the head width dh, rounded up to one for which there is a
 * kernel; columns beyond dh are zero. What lies between rows puts eight consecutive rows, and four pairs of
 * rows, in different banks.
 */
template <class T, int COLUMNS> struct tile_of {
    typedef T type;
    static constexpr int DH = COLUMNS;
    static constexpr int PIECE = LOAD_BYTES / sizeof(T);
    static constexpr int FIT = TILE_BYTES / (DH * sizeof(T));
    static constexpr int ROWS = FIT < TILE_ROWS ? FIT : TILE_ROWS;
    static constexpr int LD = DH + PIECE;
    static constexpr int ENTRIES = ROWS * LD;
    static constexpr int SHARED = 4 * ENTRIES; /* two of each matrix */
};

/* The columns of one head in a matrix with `dh` columns per head. */
struct head_columns {
    int number, dh;
    bool aligned; /* chunks of them, in every matrix */
};

/* For heads of dh columns in these matrices. */
static inline struct head_columns head_columns_of(int64_t dh, const struct mat *m, int count)
{
    return {0, (int)dh, head_width(dh, m, count) > 1};
}

/*
 * A thread's pieces of rows in shared memory: the same columns of each APART-th row. Chunks of eight lanes
 * have all banks if short rows, 8 / IN_ROW of them, are in this order: 0, 4, 1, 5, 2, 6, 3, 7 or 0, 2, 4, 6,
 * 1, 3, 5, 7.
 */
template <class L, int PIECE> struct thread_pieces {
    static constexpr int IN_ROW = L::DH / PIECE, APART = ATTENTION_THREADS / IN_ROW;
    int row, column;
    __device__ thread_pieces() : row(threadIdx.x / IN_ROW), column(threadIdx.x % IN_ROW * PIECE)
    {
        const int by = 4 / IN_ROW;
        row = (row & ~7) | (row << (3 - by) & 7) | (row & 7) >> by;
    }
};

/* Begins to copy a piece, all of it or its first entry, or zeros unless `inside`. */
template <int PIECE> __device__ static inline void copy_piece(float *to, const float *from, bool inside, bool)
{
    copy_async<PIECE * sizeof(float)>(to, from, inside);
}

template <int PIECE>
__device__ static inline void copy_piece(bf16 *to, const bf16 *from, bool inside, bool all)
{
    if constexpr (PIECE * sizeof(bf16) == LOAD_BYTES)
        copy_async<LOAD_BYTES>(to, from, inside);
    else
        *(uint32_t *)to = (inside ? from[0].bits : 0) | (uint32_t)(inside && all ? from[1].bits : 0) << 16;
}

template <class L, int SIZE, int PIECE>
__device__ static inline void copy_pieces(typename L::type *to, struct mat m, int64_t first, int rows,
                                          struct head_columns h)
{
    typedef thread_pieces<L, PIECE> pieces;
    const pieces p;
    const typename L::type *from =
        entry<typename L::type>(m, first + p.row, (int64_t)h.number * h.dh + p.column);
    int inside = p.column < h.dh ? rows - p.row : 0;
    to += p.row * L::LD + p.column;
#pragma unroll
    for (int n = 0; n < SIZE; n += pieces::APART, from += pieces::APART * m.ld)
        copy_piece<PIECE>(to + n * L::LD, from, n < inside, p.column + 1 < h.dh);
}

/* Begins to copy rows first .. first + rows - 1 of m, in chunks or in words, then zeros, to SIZE rows. */
template <class L, int SIZE>
__device__ static inline void begin_rows(typename L::type *to, struct mat m, int64_t first, int rows,
                                         struct head_columns h)
{
    if (h.aligned)
        copy_pieces<L, SIZE, L::PIECE>(to, m, first, rows, h);
    else
        copy_pieces<L, SIZE, L::PIECE / 4>(to, m, first, rows, h);
}

template <class L, int SIZE, int PIECE, class F>
__device__ static inline void change_pieces(float *rows, const F &changed)
{
    typedef thread_pieces<L, PIECE> pieces;
    const pieces p;
    rows += p.row * L::LD + p.column;
#pragma unroll
    for (int n = 0; n < SIZE; n += pieces::APART) {
        vec<PIECE> v = load<PIECE>(rows + n * L::LD);
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            v.at[i] = changed(v.at[i]);
        store_shared(rows + n * L::LD, v);
    }
}

/* Each float x that this thread copied becomes changed(x). */
template <class L, int SIZE, class F>
__device__ static inline void change_rows(float *rows, bool aligned, const F &changed)
{
    if (aligned)
        change_pieces<L, SIZE, L::PIECE>(rows, changed);
    else
        change_pieces<L, SIZE, 1>(rows, changed);
}

/*
 * Calls S::tile(first, second, from, rows, stage) for the tiles of the graph's rows in both matrices, the
 * first of which is row `from`, and of which those beyond `rows` are zero, in the warps that have work.
 * Before, arrived(first, second) changes what this thread copied, and S::begin(from, rows, stage) loads
 * further data of the tile; it is used after a barrier. At the end tiles may still be in use.
 */
template <class L, class S, class F>
__device__ static inline void sweep_tiles(S *state, typename L::type *shared, struct mat first,
                                          struct mat second, struct row_block b, struct head_columns h,
                                          bool works, const F &arrived)
{
    const int ROWS = L::ROWS, ENTRIES = L::ENTRIES;
    auto begin = [&](int64_t from, int rows, int stage) {
        typename L::type *tile = shared + 2 * stage * ENTRIES;
        begin_rows<L, ROWS>(tile, first, from, rows, h);
        begin_rows<L, ROWS>(tile + ENTRIES, second, from, rows, h);
        state->begin(from, rows, stage);
        copies_commit();
    };
    int64_t from = b.graph_first;
    int stage = 0, left = (int)b.graph_rows;
    begin(from, left, stage);
    for (; left > 0; from += ROWS, left -= ROWS, stage = 1 - stage) {
        typename L::type *tile = shared + 2 * stage * ENTRIES;
        copies_wait<0>();
        arrived(tile, tile + ENTRIES);
        __syncthreads();
        if (left > ROWS)
            begin(from + ROWS, left - ROWS, 1 - stage);
        if (works)
            state->tile(tile, tile + ENTRIES, from, left, stage);
    }
}

/* This thread block's rows, for blocks of at most `size`. */
__device__ static inline struct row_block block_of(struct offsets graphs, int size)
{
    return block_at((const int64_t *)graphs.at.data, graphs.at.ld, graph_count(graphs), size, blockIdx.x);
}

/* OP::launch<DH>(args) with the DH for these heads; `function` is the op's. */
template <class OP, class ARGS> static inline void run_attention(const char *function, const ARGS *args)
{
    int width = attention_width(args->q.cols / args->heads);
    if (!width)
        cuda_fail(function, "a head has more than 128 columns");
    cuda_check(function, args->call,
               width == 8    ? OP::template launch<8>(args)
               : width == 16 ? OP::template launch<16>(args)
               : width == 32 ? OP::template launch<32>(args)
               : width == 64 ? OP::template launch<64>(args)
                             : OP::template launch<128>(args));
}

#endif
