/*
 * Shared parts of dense attention on tensor cores: a block's rows as fragments of matrix products (mma.cuh).
 *
 * A thread block has BLOCK_ROWS rows of one graph and one head, each warp STRIP of them, and sweeps over all
 * opposite rows of the graph (attention_tiles.cuh). A warp multiplies its strip with the rows of a tile
 * (dots), and weights that follow from these with the tile's columns (sums). So each result has one owner and
 * a fixed order, and none needs atomics.
 *
 * Operands of products are bf16, floats rounded to TF32, those in shared memory by the thread that copied
 * them, or floats as sums of two in TF32. In bytes, products and fragments of all are the same.
 *
 * A float x is big + small: rounded to TF32, 11 bits, and the rest, of which a product reads 11 bits and
 * ignores at most a last one. Of the four products of two such sums small small is left out: at most 2^-22 of
 * the whole. Tensor cores add less exactly than floats are added (tests/emulator/matrices.h), so each
 * product's 8 terms are a sum of its own, which a thread adds to the others. Ootomo and Yokota, "Recovering
 * single precision accuracy from Tensor Cores", 2022.
 */
#ifndef GTMARK_KERNELS_CUDA_ATTENTION_TENSOR_CUH
#define GTMARK_KERNELS_CUDA_ATTENTION_TENSOR_CUH

#include "kernels/cuda/attention_pairs.cuh"
#include "kernels/cuda/attention_tiles.cuh"

enum {
    STRIP = 16,
    BLOCK_ROWS = ATTENTION_THREADS / WARP * STRIP,
    STEP = 8, /* columns of a product */
    QUAD = 4, /* lanes that share a row of a product */
};

/* Arithmetics of products: the type of their operands, and whether floats are rounded, or split in two. */
struct in_bf16 {
    typedef bf16 type;
    static constexpr bool ROUNDS = false, SPLITS = false;
};
struct in_tf32 {
    typedef float type;
    static constexpr bool ROUNDS = true, SPLITS = false;
};
struct in_3xtf32 {
    typedef float type;
    static constexpr bool ROUNDS = false, SPLITS = true;
};

/* What follows from the arithmetic and the columns of a head. */
template <class A, int COLUMNS> struct tensor_tile : tile_of<typename A::type, COLUMNS>, A {
    typedef tile_of<typename A::type, COLUMNS> tile;
    typedef typename A::type type;
    static constexpr bool FLOATS = sizeof(type) == sizeof(float);
    static constexpr int DEPTH = 2 * tile::PIECE; /* columns of a head, or rows of a tile, in a product */
    static constexpr int PARTS = DEPTH / STEP;    /* products for so many rows of a tile, as columns */
    static constexpr int STRIPS = tile::DH / DEPTH;
    /* Of a multiprocessor, if its threads hold two strips and a sum; for more, ptxas would spill registers.
     */
    static constexpr int BLOCKS = tile::DH * sizeof(type) > 128 ? 1 : A::SPLITS ? 3 : 4;
    static_assert(tile::ROWS >= STRIP && tile::SHARED >= BLOCK_ROWS * tile::LD, "the block's own rows fit");
};

/* The tile for heads of up to DH columns, of which products have at least 16. */
template <class A, int DH> using tensor_tile_for = tensor_tile<A, (DH > STRIP ? DH : STRIP)>;

/* Whether a thread has registers for biases. For the widest heads of split floats kernels in f32 have them.
 */
template <class A, int DH> constexpr bool biases = !A::SPLITS || DH < ATTENTION_MOST;

/* The same for weights of keys: in floats only kernels in f32 have them. */
template <class A> constexpr bool weighs = !A::SPLITS && !A::ROUNDS;

/* Blocks of a multiprocessor: biases take the registers of one. */
template <class L, class PAIRS> constexpr int blocks_at_once = L::BLOCKS > 1 ? L::BLOCKS - PAIRS::BIASED : 1;

/* A strip's rows; [0] and [2] are of row `group` of the lane, [1] and [3] of row group + 8. */
template <class L> struct strip {
    uint32_t at[L::STRIPS][4];
};

/* Left factors of a product: entries, or their big and small parts. */
template <class L> struct factor {
    uint32_t at[4], small[L::SPLITS ? 4 : 1];
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

/* A float as an operand. */
template <class L> __device__ static inline uint32_t operand(float x)
{
    return L::ROUNDS ? round_tf32(x) : __float_as_uint(x);
}

/* Rounds what this thread copied, where operands are rounded. */
template <class L, int SIZE> __device__ static inline void round_rows(typename L::type *rows, bool aligned)
{
    if constexpr (L::ROUNDS)
        change_rows<L, SIZE>(rows, aligned, [](float x) { return __uint_as_float(operand<L>(x)); });
}

/* The lane's row of four matrices (load_matrices) that are two by two, as a left factor is. */
template <class L> __device__ static inline const typename L::type *two_by_two(const typename L::type *rows)
{
    const lane_place p;
    return rows + p.lane % 16 * L::LD + p.lane / 16 * L::PIECE;
}

/* Rows of block b of m, in shared memory. */
template <class L>
__device__ static inline void load_block(typename L::type *shared, struct mat m, struct row_block b,
                                         struct head_columns h)
{
    begin_rows<L, BLOCK_ROWS>(shared, m, b.first, (int)b.rows, h);
    copies_commit();
    copies_wait<0>();
    round_rows<L, BLOCK_ROWS>(shared, h.aligned);
    __syncthreads();
}

/* x = big + small, of which a product reads 19 bits: small need not be rounded. Of infinity it is NaN. */
template <int N>
__device__ static inline void split(uint32_t (&big)[N], uint32_t (&small)[N], const uint32_t (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint32_t all = x[i];
        big[i] = (all + 0x1000) & ~0x1fffu; /* as round_tf32, in fewer instructions */
        small[i] = __float_as_uint(__uint_as_float(all) - __uint_as_float(big[i]));
    }
}

/* The warp's strip of block b of m, by way of shared memory. */
template <class L>
__device__ static inline void load_strip(strip<L> *to, typename L::type *shared, struct mat m,
                                         struct row_block b, struct head_columns h)
{
    load_block<L>(shared, m, b, h);
    const typename L::type *at = two_by_two<L>(shared + lane_place().first * L::LD);
#pragma unroll
    for (int s = 0; s < L::STRIPS; s++)
        load_matrices(to->at[s], at + s * L::DEPTH);
    __syncthreads();
}

template <class L> __device__ static inline factor<L> factor_of(const uint32_t (&x)[4])
{
    factor<L> f;
    if constexpr (L::SPLITS) {
        /* Here, not before a loop: a thread has no registers for both parts of all its strips. */
        const uint32_t here[4] = {in_place(x[0]), in_place(x[1]), in_place(x[2]), in_place(x[3])};
        split(f.at, f.small, here);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            f.at[i] = x[i];
    }
    return f;
}

/* d += a b, of split operands without the product of their small parts. */
template <class L>
__device__ static inline void multiply(float (&d)[4], const factor<L> &a, const uint32_t (&b)[2])
{
    if constexpr (L::SPLITS) {
        uint32_t big[2], small[2];
        float sum[4] = {};
        split(big, small, b);
        mma_tf32(sum, a.small, big);
        mma_tf32(sum, a.at, small);
        mma_tf32(sum, a.at, big);
#pragma unroll
        for (int i = 0; i < 4; i++)
            d[i] += sum[i];
    } else if constexpr (L::FLOATS) {
        mma_tf32(d, a.at, b);
    } else {
        mma_bf16(d, a.at, b);
    }
}

/*
 * d[j] += the strip times the transpose of rows j DEPTH .. of a tile, DEPTH of them. Four matrices are two
 * steps of 8 rows of floats, and in bf16 one of 16.
 */
template <class L, int GROUPS>
__device__ static inline void add_dots(float (&d)[GROUPS][L::PARTS][4], const strip<L> &x,
                                       const typename L::type *rows)
{
    const lane_place p;
    const int STEPS = 2 / L::PARTS, in_row = p.lane / STEP % (2 * STEPS);
    const typename L::type *at =
        rows + (p.lane / STEP / (2 * STEPS) * STEP + p.lane % STEP) * L::LD + in_row * L::PIECE;
#pragma unroll
    for (int s = 0; s < L::STRIPS; s += STEPS) {
        const factor<L> a = factor_of<L>(x.at[s]), next = factor_of<L>(x.at[s + STEPS - 1]);
#pragma unroll
        for (int j = 0; j < GROUPS; j++) {
            uint32_t b[4];
            load_matrices(b, at + j * L::DEPTH * L::LD + s * L::DEPTH);
            multiply<L>(d[j][0], a, {b[0], b[1]});
            multiply<L>(d[j][L::PARTS - 1], STEPS > 1 ? next : a, {b[2], b[3]});
        }
    }
}

/* f(d, row of the block, row of the tile) for products of the strip's rows and a tile's from row `from` on.
 */
template <int PARTS, class F>
__device__ static inline void for_pairs(float (&d)[PARTS][4], int from, const F &f)
{
    const lane_place p;
#pragma unroll
    for (int i = 0; i < PARTS * 4; i++)
        f(d[i / 4][i % 4], p.row(i % 4), from + i / 4 * STEP + p.column(i % 4));
}

/* Adds their biases. */
template <int GROUPS, int PARTS, class PAIRS>
__device__ static inline void add_biases(float (&d)[GROUPS][PARTS][4], const PAIRS &pairs, int from)
{
    if constexpr (PAIRS::BIASED)
#pragma unroll
        for (int j = 0; j < GROUPS; j++, from += PARTS * STEP)
            for_pairs(d[j], from, [&](float &x, int row, int swept) { x += pairs.bias(row, swept); });
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
 * y += w, STRIP x DEPTH as sums of products are, times DEPTH rows of a tile, with w rounded, or split. In
 * bf16 a lane's w are those that it has of a left factor. Of floats they are those of rows 2 in_group and the
 * next of the tile; as left factors they would be of rows in_group and in_group + 4, so those rows are taken
 * in that order.
 */
template <class L>
__device__ static inline void add_products(strip_sums<L> *y, const float (&w)[L::PARTS][4],
                                           const typename L::type *rows)
{
    if constexpr (L::FLOATS) {
        const lane_place p;
        const float *at = rows + 2 * p.in_group * L::LD + p.group;
        const factor<L> a = factor_of<L>(
            {operand<L>(w[0][0]), operand<L>(w[0][2]), operand<L>(w[0][1]), operand<L>(w[0][3])});
#pragma unroll
        for (int c = 0; c < L::DH / STEP; c++)
            multiply<L>(y->at[c], a, {__float_as_uint(at[c * STEP]), __float_as_uint(at[c * STEP + L::LD])});
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

/* The tiles of a sweep, rounded, in the warps that have rows. */
template <class L, class S>
__device__ static inline void sweep_strips(S *state, typename L::type *shared, struct mat first,
                                           struct mat second, struct row_block b, struct head_columns h)
{
    auto arrived = [=](typename L::type *one, typename L::type *two) {
        round_rows<L, L::ROWS>(one, h.aligned);
        round_rows<L, L::ROWS>(two, h.aligned);
    };
    sweep_tiles<L>(state, shared, first, second, b, h, lane_place().first < b.rows, arrived);
}

static inline struct launch launch_strips(int64_t rows, struct offsets graphs, int heads)
{
    return launch_heads(rows, graph_count(graphs), heads, BLOCK_ROWS, ATTENTION_THREADS);
}

#endif
