/*
 * Shared parts of dense attention on tensor cores: a block's rows as fragments of matrix products (mma.cuh).
 *
 * A thread block has BLOCK_ROWS rows of one graph and one head, each warp STRIP of them, and sweeps over all
 * opposite rows of the graph in tiles, of which the next is copied to shared memory while one is used. A warp
 * multiplies its strip with the rows of a tile (dots), and weights that follow from these with the tile's
 * columns (sums). So each result has one owner and a fixed order, and none needs atomics.
 *
 * Operands of products are bf16, or floats rounded to TF32: those in shared memory by the thread that copied
 * them. In bytes, products and fragments of both are the same. What lies between rows in shared memory puts
 * eight consecutive rows, and four pairs of rows, in different banks. DH is the head width dh, rounded up to
 * one for which there is a kernel; columns beyond dh are zero.
 */
#ifndef GTMARK_KERNELS_CUDA_ATTENTION_TENSOR_CUH
#define GTMARK_KERNELS_CUDA_ATTENTION_TENSOR_CUH

#include "kernels/cuda/heads.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/search.h"

enum {
    STRIP = 16,
    BLOCK_ROWS = ATTENTION_THREADS / WARP * STRIP,
    STEP = 8, /* columns of a product */
    QUAD = 4, /* lanes that share a row of a product */
    TILE_BYTES = 8192,
};

/* What follows from the type of the operands and the columns of a head. */
template <class T, int COLUMNS> struct tensor_tile {
    typedef T type;
    static constexpr bool ROUNDS = sizeof(T) == sizeof(float);
    static constexpr int DH = COLUMNS;
    static constexpr int PIECE = LOAD_BYTES / sizeof(T); /* as in a row of what ldmatrix reads */
    static constexpr int DEPTH = 2 * PIECE;    /* columns of a head, or rows of a tile, in a product */
    static constexpr int PARTS = DEPTH / STEP; /* products for so many rows of a tile, as columns */
    static constexpr int FIT = TILE_BYTES / (DH * sizeof(T));
    static constexpr int ROWS = FIT < BLOCK_ROWS ? FIT : BLOCK_ROWS;
    static constexpr int LD = DH + PIECE;
    static constexpr int ENTRIES = ROWS * LD;
    static constexpr int SHARED = 4 * ENTRIES; /* two of each matrix */
    /* Of a multiprocessor, if its threads hold two strips and a sum; for more, ptxas would spill registers.
     */
    static constexpr int BLOCKS = DH * sizeof(T) <= 128 ? 4 : 1;
    static_assert(ROWS >= STRIP && SHARED >= BLOCK_ROWS * LD, "the block's own rows fit");
};

/* The columns of one head in a matrix with `dh` columns per head. */
struct head_columns {
    int number, dh;
    bool aligned; /* chunks of them, in every matrix */
};

/* Left factors: a strip's rows; [0] and [2] are of row `group` of the lane, [1] and [3] of row group + 8. */
template <class L> struct strip {
    uint32_t at[L::DH / L::DEPTH][4];
};

/* A strip's sums: [0] and [1] are columns of row `group`, [2] and [3] of row group + 8. */
template <class L> struct strip_sums {
    float at[L::DH / STEP][4];
};

/* The thread's position. */
struct lane_place {
    int lane, group, in_group, first; /* first row of the warp in the block */
    __device__ lane_place()
        : lane(threadIdx.x % WARP), group(lane / QUAD), in_group(lane % QUAD),
          first(threadIdx.x / WARP * STRIP)
    {
    }
    /* Of sum i: its row in the block, and its column of STEP. */
    __device__ int row(int i) const
    {
        return first + group + i / 2 * 8;
    }
    __device__ int column(int i) const
    {
        return in_group * 2 + i % 2;
    }
};

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

template <class L, int SIZE, int PIECE> __device__ static inline void round_pieces(float *rows)
{
    typedef thread_pieces<L, PIECE> pieces;
    const pieces p;
    rows += p.row * L::LD + p.column;
#pragma unroll
    for (int n = 0; n < SIZE; n += pieces::APART) {
        vec<PIECE> v = load<PIECE>(rows + n * L::LD);
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            v.at[i] = __uint_as_float(round_tf32(v.at[i]));
        store_shared(rows + n * L::LD, v);
    }
}

/* Rounds what this thread copied, unless it is bf16. */
template <class L, int SIZE> __device__ static inline void round_rows(typename L::type *rows, bool aligned)
{
    if constexpr (L::ROUNDS) {
        if (aligned)
            round_pieces<L, SIZE, L::PIECE>(rows);
        else
            round_pieces<L, SIZE, 1>(rows);
    }
}

/* The lane's row of four matrices (load_matrices) that are two by two, as a left factor is. */
template <class L> __device__ static inline const typename L::type *two_by_two(const typename L::type *rows)
{
    const lane_place p;
    return rows + p.lane % 16 * L::LD + p.lane / 16 * L::PIECE;
}

/* The warp's strip of block b of m, by way of shared memory. */
template <class L>
__device__ static inline void load_strip(strip<L> *to, typename L::type *shared, struct mat m,
                                         struct row_block b, struct head_columns h)
{
    begin_rows<L, BLOCK_ROWS>(shared, m, b.first, (int)b.rows, h);
    copies_commit();
    copies_wait<0>();
    round_rows<L, BLOCK_ROWS>(shared, h.aligned);
    __syncthreads();
    const typename L::type *at = two_by_two<L>(shared + lane_place().first * L::LD);
#pragma unroll
    for (int s = 0; s < L::DH / L::DEPTH; s++)
        load_matrices(to->at[s], at + s * L::DEPTH);
    __syncthreads();
}

/* d += a b, of TF32 or of bf16. */
template <class L>
__device__ static inline void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    if constexpr (L::ROUNDS)
        mma_tf32(d, a, b);
    else
        mma_bf16(d, a, b);
}

/*
 * d += the strip times the transpose of DEPTH rows of a tile. Four matrices are two steps of 8 rows in TF32,
 * and in bf16 one of 16.
 */
template <class L>
__device__ static inline void add_dots(float (&d)[L::PARTS][4], const strip<L> &x,
                                       const typename L::type *rows)
{
    const lane_place p;
    const int STEPS = 2 / L::PARTS, in_row = p.lane / STEP % (2 * STEPS);
    const typename L::type *at =
        rows + (p.lane / STEP / (2 * STEPS) * STEP + p.lane % STEP) * L::LD + in_row * L::PIECE;
#pragma unroll
    for (int s = 0; s < L::DH / L::DEPTH; s += STEPS) {
        uint32_t b[4];
        load_matrices(b, at + s * L::DEPTH);
        multiply<L>(d[0], x.at[s], {b[0], b[1]});
        multiply<L>(d[L::PARTS - 1], x.at[s + STEPS - 1], {b[2], b[3]});
    }
}

/* Sums of columns from `columns` on become `value`. */
template <int PARTS> __device__ static inline void set_beyond(float (&d)[PARTS][4], int columns, float value)
{
    const lane_place p;
#pragma unroll
    for (int i = 0; i < PARTS * 4; i++)
        d[i / 4][i % 4] = i / 4 * STEP + p.column(i) < columns ? d[i / 4][i % 4] : value;
}

/*
 * y += w, STRIP x DEPTH as sums of products are, times DEPTH rows of a tile, with w rounded. In bf16 a lane's
 * w are those that it has of a left factor. In TF32 they are those of rows 2 in_group and the next of the
 * tile; as left factors they would be of rows in_group and in_group + 4, so those rows are taken in that
 * order.
 */
template <class L>
__device__ static inline void add_products(strip_sums<L> *y, const float (&w)[L::PARTS][4],
                                           const typename L::type *rows)
{
    if constexpr (L::ROUNDS) {
        const lane_place p;
        const float *at = rows + 2 * p.in_group * L::LD + p.group;
        const uint32_t a[4] = {round_tf32(w[0][0]), round_tf32(w[0][2]), round_tf32(w[0][1]),
                               round_tf32(w[0][3])};
#pragma unroll
        for (int c = 0; c < L::DH / STEP; c++)
            mma_tf32(y->at[c], a, {__float_as_uint(at[c * STEP]), __float_as_uint(at[c * STEP + L::LD])});
    } else {
        const bf16 *at = two_by_two<L>(rows);
        const uint32_t a[4] = {round_bf16(w[0][0], w[0][1]), round_bf16(w[0][2], w[0][3]),
                               round_bf16(w[1][0], w[1][1]), round_bf16(w[1][2], w[1][3])};
#pragma unroll
        for (int c = 0; c < L::DH / STEP; c += 2) {
            uint32_t b[4];
            load_transposed(b, at + c * STEP);
            mma_bf16(y->at[c], a, {b[0], b[1]});
            mma_bf16(y->at[c + 1], a, {b[2], b[3]});
        }
    }
}

/*
 * Sums i and i + 1 of four consecutive columns: lanes exchange pairs, so that even ones have them of product
 * c and odd ones of c + 1, and a row's lanes store a whole sector of bf16.
 */
template <class L>
__device__ static inline vec<4> four_columns(const strip_sums<L> &y, int c, int i, bool odd)
{
    vec<4> four;
#pragma unroll
    for (int v = 0; v < 2; v++) {
        float even_sum = y.at[c][i + v], odd_sum = y.at[c + 1][i + v];
        float got = __shfl_xor_sync(WHOLE_WARP, odd ? even_sum : odd_sum, 1);
        four.at[v] = odd ? got : even_sum;
        four.at[v + 2] = odd ? odd_sum : got;
    }
    return four;
}

/* m (+)= scale[i / 2] times sum i, for rows of the block and columns of the head; by all lanes of a warp. */
template <class L>
__device__ static inline void put_strip(struct mat m, struct row_block b, struct head_columns h,
                                        const strip_sums<L> &y, const float (&scale)[2])
{
    const lane_place p;
    const int odd = p.in_group % 2, first = odd * STEP + p.in_group / 2 * 4;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        typename L::type *row =
            entry<typename L::type>(m, b.first + p.row(i), (int64_t)h.number * h.dh + first);
#pragma unroll
        for (int c = 0; c < L::DH / STEP; c += 2) {
            vec<4> four = four_columns(y, c, i, odd) * scale[i / 2];
            int left = p.row(i) < b.rows ? h.dh - first - c * STEP : 0;
            if (h.aligned && left > 0)
                put(row + c * STEP, m.acc, four);
#pragma unroll
            for (int v = 0; v < 4 && !h.aligned; v++)
                if (v < left)
                    put(row + c * STEP + v, m.acc, vec<1>{four.at[v]});
        }
    }
}

/*
 * Calls S::tile(first, second, rows, stage) for the tiles of the graph's rows in both matrices, of which
 * those beyond `rows` are zero, in the warps that have rows. S::begin(from, stage) loads further data of the
 * tile that begins with row `from`; it is used after a barrier.
 */
template <class L, class S>
__device__ static inline void sweep_tiles(S *state, typename L::type *shared, struct mat first,
                                          struct mat second, struct row_block b, struct head_columns h)
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
        round_rows<L, ROWS>(tile, h.aligned);
        round_rows<L, ROWS>(tile + ENTRIES, h.aligned);
        __syncthreads();
        if (left > ROWS)
            begin(from + ROWS, left - ROWS, 1 - stage);
        if (lane_place().first < b.rows)
            state->tile(tile, tile + ENTRIES, left, stage);
    }
}

/* This thread block's rows. */
__device__ static inline struct row_block tensor_block(struct offsets graphs)
{
    return block_at((const int64_t *)graphs.at.data, graphs.at.ld, graph_count(graphs), BLOCK_ROWS,
                    blockIdx.x);
}

static inline struct launch launch_strips(int64_t rows, struct offsets graphs, int heads)
{
    return launch_heads(rows, graph_count(graphs), heads, BLOCK_ROWS, ATTENTION_THREADS);
}

/* OP::launch<tensor_tile<T, DH>>(args) with the DH for these heads; there must be one (attention_width). */
template <class T, class OP, class ARGS> static inline cuda_status launch_tensor(const ARGS *args)
{
    switch (attention_width(args->q.cols / args->heads)) {
    case 8:
    case 16:
        return OP::template launch<tensor_tile<T, 16>>(args);
    case 32:
        return OP::template launch<tensor_tile<T, 32>>(args);
    case 64:
        return OP::template launch<tensor_tile<T, 64>>(args);
    default:
        return OP::template launch<tensor_tile<T, 128>>(args);
    }
}

#endif
