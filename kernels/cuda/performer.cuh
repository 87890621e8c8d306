/*
 * Tiles of linear attention by random features (ref/performer.c). A thread block computes the features of
 * SIDE nodes and SIDE rows of w, twice where that saves storing N x M of them, and multiplies them with SIDE
 * rows of another matrix into SIDE x COLUMNS sums. Thread (x, y) = (lane, warp) holds columns x, x + WARP,
 * ... of rows 4 y .. 4 y + 3, so sums over the columns of a row are sums over a warp.
 * The kernels have __launch_bounds__(BLOCK, 2), without which ptxas takes more than BLOCK_REGISTERS.
 */
#ifndef GTMARK_KERNELS_CUDA_PERFORMER_CUH
#define GTMARK_KERNELS_CUDA_PERFORMER_CUH

#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/graph_blocks.cuh"

enum {
    SIDE = WARP,
    OWN = SIDE / (BLOCK / WARP), /* rows per thread */
    PARTS = 2,                   /* columns per thread and row */
    COLUMNS = PARTS * WARP,
};

struct tiles {
    float a[SIDE][SIDE + 1], b[SIDE][SIDE + 1], wide[SIDE][COLUMNS];
};

/* Columns per row of a thread's sums. */
struct tile_sums {
    float at[OWN][PARTS];
};

/* The scaled columns of a head in some rows, divided by its entry of `den` if that is present; else zero. */
struct part {
    struct mat m;
    int64_t first, rows, column, cols;
    float scale;
    struct mat den;
    int64_t head;

    __device__ float at(int64_t r, int64_t c) const
    {
        if (r >= rows || c >= cols)
            return 0;
        float x = scale * *entry(m, first + r, column + c);
        return present(den) ? x / *entry(den, first + r, head) : x;
    }
    /* Columns `from` and after it, COLUMNS of them at most. */
    __device__ struct part strip(int64_t from) const
    {
        struct part p = *this;
        p.column += from;
        p.cols = min_of(COLUMNS, cols - from);
        return p;
    }
};

__device__ static inline int tile_row(int n)
{
    return (int)threadIdx.x / WARP * OWN + n;
}

__device__ static inline int tile_column()
{
    return (int)threadIdx.x % WARP;
}

/* u[n] = row tile_row(n) of a . row tile_column() of b. All threads must call it. */
__device__ static inline void products(float (&u)[OWN], struct tiles &t, const struct part &a,
                                       const struct part &b)
{
    int x = tile_column();
#pragma unroll
    for (int n = 0; n < OWN; n++)
        u[n] = 0;
    for (int64_t from = 0; from < a.cols; from += SIDE) {
        __syncthreads(); /* wait for reads of the tiles */
#pragma unroll
        for (int n = 0; n < OWN; n++) {
            t.a[tile_row(n)][x] = a.at(tile_row(n), from + x);
            t.b[tile_row(n)][x] = b.at(tile_row(n), from + x);
        }
        __syncthreads();
        float some[OWN] = {}; /* added as one, so that errors of long rows do not grow with their length */
        int depth = (int)min_of(SIDE, a.cols - from);
        for (int k = 0; k < depth; k++) {
            float other = t.b[x][k];
#pragma unroll
            for (int n = 0; n < OWN; n++)
                some[n] += t.a[tile_row(n)][k] * other;
        }
#pragma unroll
        for (int n = 0; n < OWN; n++)
            u[n] += some[n];
    }
}

/* sums += the SIDE x SIDE matrix e, of which each thread has what products() gives, times m. */
__device__ static inline void accumulate(struct tile_sums &sums, struct tiles &t, const float (&e)[OWN],
                                         const struct part &m)
{
    int x = tile_column();
    __syncthreads();
#pragma unroll
    for (int n = 0; n < OWN; n++) {
        t.a[tile_row(n)][x] = e[n];
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            t.wide[tile_row(n)][x + p * WARP] = m.at(tile_row(n), x + p * WARP);
    }
    __syncthreads();
    for (int j = 0; j < m.rows; j++) {
        float row[PARTS];
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            row[p] = t.wide[j][x + p * WARP];
#pragma unroll
        for (int n = 0; n < OWN; n++) {
            float factor = t.a[tile_row(n)][j];
#pragma unroll
            for (int p = 0; p < PARTS; p++)
                sums.at[n][p] += factor * row[p];
        }
    }
}

/* The product of row r of two parts, in each lane of the warp. */
__device__ static inline float row_product(const struct part &a, const struct part &b, int r)
{
    float sum = 0;
    for (int64_t c = tile_column(); c < a.cols; c += WARP)
        sum += a.at(r, c) * b.at(r, c);
    return team_sum(WHOLE_WARP, WARP, sum);
}

/* The features: w, M x C, and what they are of. */
struct random_features {
    struct mat w;
    int64_t heads;
    bool exponential; /* else rectified */
    float scale;      /* of q and k: C^(-1/4) */
    float eps;

    __device__ int64_t strips() const
    {
        return blocks_of(w.cols, COLUMNS);
    }
    /* Rows first and after it of w. */
    __device__ struct part rows_of_w(int64_t from) const
    {
        struct part p = {w, from, min_of(SIDE, w.rows - from), 0, w.cols, 1, {}, 0};
        return p;
    }
    /* The same of a matrix with a row for each graph, head and row of w. */
    __device__ struct part rows_of_features(const struct mat &m, int64_t graph, int64_t head,
                                            int64_t from) const
    {
        struct part p = rows_of_w(from);
        p.m = m;
        p.first = (graph * heads + head) * w.rows + from;
        return p;
    }
    /* SIDE nodes at most, of a block, in a matrix of nodes. */
    __device__ struct part nodes(const struct mat &m, const struct row_block &b, int64_t from,
                                 int64_t head) const
    {
        struct part p = {m, b.first + from, min_of(SIDE, b.rows - from), head * w.cols, w.cols, 1, {}, head};
        return p;
    }
    /* Scaled ones, of q or k. */
    __device__ struct part scaled(const struct mat &m, const struct row_block &b, int64_t from,
                                  int64_t head) const
    {
        struct part p = nodes(m, b, from, head);
        p.scale = scale;
        return p;
    }
    /* What is subtracted from W z of row r before exp. */
    __device__ float half_square(const struct part &z, int r) const
    {
        return exponential ? 0.5f * row_product(z, z, r) : 0;
    }
    __device__ float of(float u, float shift) const
    {
        return exponential ? expf(u - shift) : larger_of(u, 0);
    }
};

static inline struct random_features features_of(struct mat w, int heads, int kind, double eps)
{
    bool exponential = kind == FEATURES_EXP;
    struct random_features f = {w, heads, exponential, exponential ? (float)pow((double)w.cols, -0.25) : 1,
                                (float)eps};
    return f;
}

/* Work of one thread block, by number: a block of nodes, a head, a strip of columns, and a tile of w's rows.
 */
struct place_of_work {
    int64_t block, head, strip, tile;
};

__device__ static inline struct place_of_work place_of_number(const struct random_features &f, int64_t number,
                                                              int64_t w_tiles)
{
    int64_t strips = f.strips();
    struct place_of_work p = {number / (w_tiles * strips * f.heads), number / (w_tiles * strips) % f.heads,
                              number / w_tiles % strips, number % w_tiles};
    return p;
}

static inline int64_t work_count(const struct random_features &f, int64_t blocks, int64_t tiles)
{
    return blocks * f.heads * blocks_of(f.w.cols, COLUMNS) * tiles;
}

#endif
