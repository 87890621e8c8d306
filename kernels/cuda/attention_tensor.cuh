/*
 * Shared parts of dense attention on tensor cores: a block's rows as fragments of matrix products (mma.cuh).
 *
 * A thread block has BLOCK_ROWS rows of one graph and one head, each warp STRIP of them, and sweeps over all
 * opposite rows of the graph in tiles, of which the next is copied to shared memory while one is used. A warp
 * multiplies its strip with the rows of a tile (dots), and weights that follow from these with the tile's
 * columns (sums). So each result has one owner and a fixed order, and none needs atomics.
 *
 * Operands of products are rounded to TF32: those in shared memory by the thread that copied them. What lies
 * between rows in shared memory puts eight consecutive rows, and four pairs of rows, in different banks. DH
 * is the head width dh, rounded up to one for which there is a kernel; columns beyond dh are zero.
 */
#ifndef GTMARK_KERNELS_CUDA_ATTENTION_TENSOR_CUH
#define GTMARK_KERNELS_CUDA_ATTENTION_TENSOR_CUH

#include "kernels/cuda/math.h"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/search.h"

enum {
    STRIP = 16,
    BLOCK_ROWS = ATTENTION_THREADS / WARP * STRIP,
    STEP = 8, /* columns of a head, or rows of a tile, in a product */
    QUAD = 4, /* lanes that share a row of a product */
};

template <int DH> struct tensor_tile {
    static constexpr int ROWS = DH <= 32 ? 64 : 2048 / DH;
    static constexpr int LD = DH + 4;
    static constexpr int FLOATS = ROWS * LD;
    static constexpr int SHARED = 4 * FLOATS; /* two of each matrix */
    static_assert(SHARED >= BLOCK_ROWS * LD, "the block's own rows fit");
};

/* The columns of one head in a matrix with `dh` columns per head. */
struct head_columns {
    int number, dh;
    bool aligned; /* four of them, in every matrix */
};

/* Left factors: a strip's rows; [0] and [2] are of row `group` of the lane, [1] and [3] of row group + 8. */
template <int DH> struct strip {
    uint32_t at[DH / STEP][4];
};

/* A strip's sums: [0] and [1] are columns of row `group`, [2] and [3] of row group + 8. */
template <int DH> struct strip_sums {
    float at[DH / STEP][4];
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
 * A thread's pieces of rows in shared memory: the same columns of each APART-th row. Of the narrowest heads
 * two rows have all banks if they are 4 apart, so that lanes have rows in the order 0, 4, 1, 5, 2, 6, 3, 7.
 */
template <int DH, int PIECE> struct thread_pieces {
    static constexpr int IN_ROW = DH / PIECE, APART = ATTENTION_THREADS / IN_ROW;
    int row, column;
    __device__ thread_pieces() : row(threadIdx.x / IN_ROW), column(threadIdx.x % IN_ROW * PIECE)
    {
        if (DH == 16)
            row = (row & ~7) | (row & 1) << 2 | (row & 6) >> 1;
    }
};

template <int DH, int SIZE, int PIECE>
__device__ static inline void copy_pieces(float *to, struct mat m, int64_t first, int rows,
                                          struct head_columns h)
{
    typedef thread_pieces<DH, PIECE> pieces;
    const pieces p;
    const float *from = entry(m, first + p.row, (int64_t)h.number * h.dh + p.column);
    int inside = p.column < h.dh ? rows - p.row : 0;
    to += p.row * tensor_tile<DH>::LD + p.column;
#pragma unroll
    for (int n = 0; n < SIZE; n += pieces::APART, from += pieces::APART * m.ld)
        copy_async<PIECE * sizeof(float)>(to + n * tensor_tile<DH>::LD, from, n < inside);
}

/* Begins to copy rows first .. first + rows - 1 of m, followed by zeros, to SIZE rows. */
template <int DH, int SIZE>
__device__ static inline void begin_rows(float *to, struct mat m, int64_t first, int rows,
                                         struct head_columns h)
{
    if (h.aligned)
        copy_pieces<DH, SIZE, 4>(to, m, first, rows, h);
    else
        copy_pieces<DH, SIZE, 1>(to, m, first, rows, h);
}

template <int DH, int SIZE, int PIECE> __device__ static inline void round_pieces(float *rows)
{
    typedef thread_pieces<DH, PIECE> pieces;
    const pieces p;
    rows += p.row * tensor_tile<DH>::LD + p.column;
#pragma unroll
    for (int n = 0; n < SIZE; n += pieces::APART) {
        vec<PIECE> v = load<PIECE>(rows + n * tensor_tile<DH>::LD);
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            v.at[i] = __uint_as_float(round_tf32(v.at[i]));
        store_shared(rows + n * tensor_tile<DH>::LD, v);
    }
}

/* Rounds what this thread copied. */
template <int DH, int SIZE> __device__ static inline void round_rows(float *rows, bool aligned)
{
    if (aligned)
        round_pieces<DH, SIZE, 4>(rows);
    else
        round_pieces<DH, SIZE, 1>(rows);
}

/* The warp's strip of block b of m, by way of shared memory. */
template <int DH>
__device__ static inline void load_strip(strip<DH> *to, float *shared, struct mat m, struct row_block b,
                                         struct head_columns h)
{
    const lane_place p;
    begin_rows<DH, BLOCK_ROWS>(shared, m, b.first, (int)b.rows, h);
    copies_commit();
    copies_wait<0>();
    round_rows<DH, BLOCK_ROWS>(shared, h.aligned);
    __syncthreads();
    const float *at = shared + (p.first + p.lane % 16) * tensor_tile<DH>::LD + p.lane / 16 * 4;
#pragma unroll
    for (int s = 0; s < DH / STEP; s++)
        load_matrices(to->at[s], at + s * STEP);
    __syncthreads();
}

/* d += the strip times the transpose of STEP rows of a tile. */
template <int DH> __device__ static inline void add_dots(float (&d)[4], const strip<DH> &x, const float *rows)
{
    const lane_place p;
    const float *at = rows + p.lane % 8 * tensor_tile<DH>::LD + p.lane / 8 * 4;
#pragma unroll
    for (int s = 0; s < DH / STEP; s += 2) {
        uint32_t b[4];
        load_matrices(b, at + s * STEP);
        mma_tf32(d, x.at[s], {b[0], b[1]});
        mma_tf32(d, x.at[s + 1], {b[2], b[3]});
    }
}

/* Sums of columns from `columns` on become `value`. */
__device__ static inline void set_beyond(float (&d)[4], int columns, float value)
{
    const lane_place p;
#pragma unroll
    for (int i = 0; i < 4; i++)
        d[i] = p.column(i) < columns ? d[i] : value;
}

/*
 * y += w, STRIP x STEP as sums of a product are, times STEP rows of a tile. A lane's w are those of rows 2
 * in_group and the next of the tile; as left factors they would be of rows in_group and in_group + 4, so
 * those rows are taken in that order.
 */
template <int DH>
__device__ static inline void add_products(strip_sums<DH> *y, const float (&w)[4], const float *rows)
{
    const lane_place p;
    const float *at = rows + 2 * p.in_group * tensor_tile<DH>::LD + p.group;
    const uint32_t a[4] = {round_tf32(w[0]), round_tf32(w[2]), round_tf32(w[1]), round_tf32(w[3])};
#pragma unroll
    for (int c = 0; c < DH / STEP; c++)
        mma_tf32(y->at[c], a,
                 {__float_as_uint(at[c * STEP]), __float_as_uint(at[c * STEP + tensor_tile<DH>::LD])});
}

/* m (+)= scale[i / 2] times sum i, for rows of the block and columns of the head. */
template <int DH>
__device__ static inline void put_strip(struct mat m, struct row_block b, struct head_columns h,
                                        const strip_sums<DH> &y, const float (&scale)[2])
{
    const lane_place p;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        if (p.row(i) >= b.rows)
            continue;
        float *row = entry(m, b.first + p.row(i), (int64_t)h.number * h.dh + p.column(i));
#pragma unroll
        for (int c = 0; c < DH / STEP; c++) {
            float first = scale[i / 2] * y.at[c][i], second = scale[i / 2] * y.at[c][i + 1];
            int column = c * STEP + p.column(i);
            if (h.aligned && column < h.dh)
                put<2>(row + c * STEP, m.acc, {first, second});
            else if (column < h.dh) {
                put<1>(row + c * STEP, m.acc, {first});
                if (column + 1 < h.dh)
                    put<1>(row + c * STEP + 1, m.acc, {second});
            }
        }
    }
}

/*
 * Calls S::tile(first, second, rows, stage) for the tiles of the graph's rows in both matrices, of which
 * those beyond `rows` are zero, in the warps that have rows. S::begin(from, stage) loads further data of the
 * tile that begins with row `from`; it is used after a barrier.
 */
template <int DH, class S>
__device__ static inline void sweep_tiles(S *state, float *shared, struct mat first, struct mat second,
                                          struct row_block b, struct head_columns h)
{
    const int ROWS = tensor_tile<DH>::ROWS, FLOATS = tensor_tile<DH>::FLOATS;
    auto begin = [&](int64_t from, int rows, int stage) {
        float *tile = shared + 2 * stage * FLOATS;
        begin_rows<DH, ROWS>(tile, first, from, rows, h);
        begin_rows<DH, ROWS>(tile + FLOATS, second, from, rows, h);
        state->begin(from, rows, stage);
        copies_commit();
    };
    int64_t from = b.graph_first;
    int stage = 0, left = (int)b.graph_rows;
    begin(from, left, stage);
    for (; left > 0; from += ROWS, left -= ROWS, stage = 1 - stage) {
        float *tile = shared + 2 * stage * FLOATS;
        copies_wait<0>();
        round_rows<DH, ROWS>(tile, h.aligned);
        round_rows<DH, ROWS>(tile + FLOATS, h.aligned);
        __syncthreads();
        if (left > ROWS)
            begin(from + ROWS, left - ROWS, 1 - stage);
        if (lane_place().first < b.rows)
            state->tile(tile, tile + FLOATS, left, stage);
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

/* Whether four columns are aligned in every head. */
static inline bool heads_aligned(const struct mat *m, int count, int64_t dh)
{
    return dh % WIDE == 0 && width_of(m, count) == WIDE;
}

/* OP::launch<DH>(args) with the DH for heads of dh columns; there must be one (attention_width). */
template <class OP, class ARGS> static inline cuda_status launch_tensor(int64_t dh, const ARGS *args)
{
    switch (attention_width(dh)) {
    case 8:
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
