/*
 * Shared parts of the dense attention kernels: the layout of a head's rows in the registers of a warp.
 *
 * A thread block holds a block of rows of one graph and one head (queries, or keys in half of the backward
 * pass) in registers and sweeps over all opposite rows of the graph (attention_tiles.cuh). All WARPS warps of
 * the block hold the same rows and process different batches of each tile; their partial sums are combined at
 * the end in a fixed order. So short graphs have parallelism too, and results depend only on shapes.
 *
 * In a warp, LANES = DH / COLUMNS consecutive threads share a row and split its columns; there are GROUPS
 * rows side by side and each thread holds ROWS of them, GROUPS apart: row r of group g is r GROUPS + g. A
 * thread's columns are pieces of PIECE, interleaved with those of its neighbours, so that a row of a tile is
 * read without bank conflicts, one broadcast per piece for ROWS products: shared memory gives a warp such a
 * piece in four cycles, in which a multiprocessor does 16 of these products.
 */
#ifndef GTMARK_KERNELS_CUDA_ATTENTION_CUH
#define GTMARK_KERNELS_CUDA_ATTENTION_CUH

#include "kernels/cuda/attention_pairs.cuh"
#include "kernels/cuda/attention_tiles.cuh"

enum {
    WARPS = ATTENTION_THREADS / WARP,
    COLUMNS = 8,          /* of a head in a thread */
    ATTENTION_BLOCKS = 4, /* of a multiprocessor, as its registers allow */
};

template <int WIDTH> struct layout : tile_of<float, WIDTH> {
    static constexpr int LANES = WIDTH / COLUMNS;
    static constexpr int GROUPS = WARP / LANES;
};

/* A thread's columns of ROWS rows. */
template <int ROWS> struct rows_of {
    float at[ROWS][COLUMNS];
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
    /* This thread's column c, as a column of the head: the first of a piece. */
    __device__ int column(int c) const
    {
        return c * layout<DH>::LANES + part * layout<DH>::PIECE;
    }
};

/* What this thread copied, times `scale`. */
template <int DH, int SIZE> __device__ static inline void scale_rows(float *rows, float scale, bool aligned)
{
    if (scale != 1)
        change_rows<layout<DH>, SIZE>(rows, aligned, [=](float x) { return scale * x; });
}

/*
 * Rows of block b of m times `scale`, through shared memory; zero outside the block and the head's columns.
 */
template <int DH, int ROWS>
__device__ static inline void load_rows(rows_of<ROWS> *to, float *shared, struct mat m, struct row_block b,
                                        struct head_columns h, float scale)
{
    typedef layout<DH> L;
    const int SIZE = L::GROUPS * ROWS;
    const place<DH> p;
    begin_rows<L, SIZE>(shared, m, b.first, (int)b.rows, h);
    copies_commit();
    copies_wait<0>();
    scale_rows<DH, SIZE>(shared, scale, h.aligned);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c += L::PIECE) {
            vec<L::PIECE> v = load<L::PIECE>(shared + p.row(r) * L::LD + p.column(c));
#pragma unroll
            for (int l = 0; l < L::PIECE; l++)
                to->at[r][c + l] = v.at[l];
        }
    __syncthreads();
}

/* Rows first .. first + rows - 1 of m (+)= those in shared memory, with all threads of the block. */
template <int DH, int WIDTH>
__device__ static inline void put_shared(struct mat m, const float *rows, struct row_block b,
                                         struct head_columns h)
{
    float *to = entry(m, b.first, (int64_t)h.number * h.dh);
    for (int at = threadIdx.x * WIDTH; at < (int)b.rows * DH; at += ATTENTION_THREADS * WIDTH) {
        int row = at / DH, column = at % DH;
        if (column < h.dh)
            put(to + row * m.ld + column, m.acc, load<WIDTH>(rows + row * layout<DH>::LD + column));
    }
}

/* m (+)= scale[r] times row r of the first warp, for entries inside m. All threads of the block must call it.
 */
template <int DH, int ROWS>
__device__ static inline void put_rows(struct mat m, float *shared, struct row_block b, struct head_columns h,
                                       const rows_of<ROWS> &from, const float (&scale)[ROWS])
{
    typedef layout<DH> L;
    const place<DH> p;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c += L::PIECE) {
            vec<L::PIECE> v;
#pragma unroll
            for (int l = 0; l < L::PIECE; l++)
                v.at[l] = scale[r] * from.at[r][c + l];
            if (p.warp == 0)
                store_shared(shared + p.row(r) * L::LD + p.column(c), v);
        }
    __syncthreads();
    if (h.aligned)
        put_shared<DH, L::PIECE>(m, shared, b, h);
    else
        put_shared<DH, 1>(m, shared, b, h);
    __syncthreads(); /* before shared is written again */
}

/*
 * dots[r] += row r . a row of a tile; their sums over the threads that share row r, in all of these. All
 * threads of the warp must call it.
 */
template <int DH, int ROWS>
__device__ static inline void dot_rows(float (&dots)[ROWS], const rows_of<ROWS> &x, const float *tile_row)
{
    const place<DH> p;
#pragma unroll
    for (int c = 0; c < COLUMNS; c += layout<DH>::PIECE) {
        vec<layout<DH>::PIECE> v = load<layout<DH>::PIECE>(tile_row + p.column(c));
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int l = 0; l < layout<DH>::PIECE; l++)
                dots[r] += x.at[r][c + l] * v.at[l];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        dots[r] = team_sum(WHOLE_WARP, layout<DH>::LANES, dots[r]);
}

/* What the products of a thread's rows and a batch of a tile's, of which the first is row `at`, begin with.
 */
template <int DH, int BATCH, int ROWS, class PAIRS>
__device__ static inline void begin_dots(float (&dots)[BATCH][ROWS], const PAIRS &pairs, int at)
{
    const place<DH> p;
#pragma unroll
    for (int i = 0; i < BATCH * ROWS; i++) {
        float &dot = dots[i / ROWS][i % ROWS] = 0;
        if constexpr (PAIRS::BIASED)
            dot = p.part == 0 ? pairs.bias(p.row(i % ROWS), at + i / ROWS) : 0;
    }
}

/* row r += factor[r] times a row of a tile */
template <int DH, int ROWS>
__device__ static inline void add_scaled(rows_of<ROWS> *y, const float (&factor)[ROWS], const float *tile_row)
{
    const place<DH> p;
#pragma unroll
    for (int c = 0; c < COLUMNS; c += layout<DH>::PIECE) {
        vec<layout<DH>::PIECE> v = load<layout<DH>::PIECE>(tile_row + p.column(c));
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int l = 0; l < layout<DH>::PIECE; l++)
                y->at[r][c + l] += factor[r] * v.at[l];
    }
}

/* Writes a thread's rows to shared memory, and reads them, as [entry][thread of the warp]. */
template <int ROWS> __device__ static inline void send_rows(float *shared, const rows_of<ROWS> &x)
{
#pragma unroll
    for (int e = 0; e < ROWS * COLUMNS; e++)
        shared[e * WARP + threadIdx.x % WARP] = x.at[e / COLUMNS][e % COLUMNS];
}

/* y += weight[r] times row r as sent */
template <int ROWS>
__device__ static inline void receive_rows(rows_of<ROWS> *y, const float *shared, const float (&weight)[ROWS])
{
#pragma unroll
    for (int e = 0; e < ROWS * COLUMNS; e++)
        y->at[e / COLUMNS][e % COLUMNS] += weight[e / COLUMNS] * shared[e * WARP + threadIdx.x % WARP];
}

/*
 * Sweeps over the rows of both matrices, times `scale` and `second_scale`. Afterwards shared memory may be
 * reused.
 */
template <int DH, class S>
__device__ static inline void sweep(S *state, float *shared, struct mat first, float scale, struct mat second,
                                    float second_scale, struct row_block b, struct head_columns h)
{
    sweep_tiles<layout<DH>>(state, shared, first, second, b, h, true, [=](float *one, float *two) {
        scale_rows<DH, layout<DH>::ROWS>(one, scale, h.aligned);
        scale_rows<DH, layout<DH>::ROWS>(two, second_scale, h.aligned);
    });
    __syncthreads();
}

/*
 * Calls S::batch(first, second, rows, at) for the warp's batches of a tile: S::BATCH rows, a divisor of the
 * tile's, of which the first is row `at`; those beyond `rows` are zero.
 */
template <int DH, class S>
__device__ static inline void batches(S *state, const float *first, const float *second, int rows)
{
#pragma unroll 1
    for (int at = threadIdx.x / WARP * S::BATCH; at < rows && at < layout<DH>::ROWS; at += WARPS * S::BATCH)
        state->batch(first + at * layout<DH>::LD, second + at * layout<DH>::LD, rows - at, at);
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

template <int DH, class ARGS> static inline int rows_per_thread(const ARGS *a, int most)
{
    return attention_rows(a->q.rows, graph_count(a->graphs), a->heads, layout<DH>::GROUPS, most,
                          context_of(a->call)->multiprocessors);
}

/* Floats of shared memory: tiles, later reused for what half of the warps send. */
template <int DH, class S> struct shared_floats {
    static constexpr int TILES = layout<DH>::SHARED, SENT = WARPS / 2 * S::ENTRIES * WARP;
    static constexpr int SIZE = TILES > SENT ? TILES : SENT;
};

#endif
