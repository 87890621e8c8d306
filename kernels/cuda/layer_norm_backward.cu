/*
 * Backward of layer normalisation (layer_norm.cu).
 *
 *   n = (x - mean) rstd, g = dy gain     dx (+)= (g - mean(g) - n mean(g n)) rstd
 *   dgain (+)= sum of dy n, dbias (+)= sum of dy over rows
 *
 * A fixed number of blocks loop over the rows, one team of lanes per row, and keep the column sums of their
 * rows in registers, so that x and dy are read once. Each block's sums go to scratch and are added in order
 * (columns.cuh). Rows that do not fit in registers, or are not aligned, are swept twice, and their columns
 * summed separately.
 */
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/cuda.h"

namespace
{
/* Blocks with column sums: enough to fill a large device, few enough that adding their sums is negligible. */
enum { SUM_BLOCKS = 512 };

template <class T> struct slope_work {
    struct mat dx, dy, x, gain, stats;
    float *partial; /* column sums of each block, or null */
};

template <int V> struct row_part {
    vec<V> n, g; /* normalised x; dy gain */
};

/* Entries k .. k + V - 1 of row i; adds dy and dy n to sums. */
template <int V, class T>
__device__ row_part<V> read_part(const slope_work<T> &w, int64_t i, int64_t k, column_sums<V> *sums)
{
    float mean = *entry(w.stats, i, 0), rstd = *entry(w.stats, i, 1);
    vec<V> x = load<V>(entry<T>(w.x, i, k)), dy = load<V>(entry<T>(w.dy, i, k)),
           gain = load<V>(entry<T>(w.gain, 0, k));
    row_part<V> part = {(x - mean) * rstd, dy * gain};
    if (sums) {
        sums->s = sums->s + dy;
        sums->t = sums->t + dy * part.n;
    }
    return part;
}

template <int V, class T>
__device__ void put_slope(const slope_work<T> &w, int64_t i, int64_t k, row_part<V> part, float g_mean,
                          float gn_mean)
{
    put(entry<T>(w.dx, i, k), w.dx.acc, (part.g - g_mean - part.n * gn_mean) * *entry(w.stats, i, 1));
}

template <int V, int ITEMS, class T>
__device__ void slope_row(const slope_work<T> &w, const struct row_teams &t, int64_t i,
                          column_sums<V> sums[ITEMS])
{
    unsigned mask = team_mask(t.lanes);
    int lane = (int)threadIdx.x % t.lanes;
    row_part<V> parts[ITEMS];
    float g = 0, gn = 0;
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
        int64_t k = (int64_t)(n * t.lanes + lane) * V;
        if (k < t.cols) {
            parts[n] = read_part<V>(w, i, k, &sums[n]);
            g += sum_of(parts[n].g);
            gn += sum_of(parts[n].g * parts[n].n);
        }
    }
    if (!present(w.dx))
        return;
    float g_mean = team_sum(mask, t.lanes, g) / (float)t.cols;
    float gn_mean = team_sum(mask, t.lanes, gn) / (float)t.cols;
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
        int64_t k = (int64_t)(n * t.lanes + lane) * V;
        if (k < t.cols)
            put_slope(w, i, k, parts[n], g_mean, gn_mean);
    }
}

template <int V, int ITEMS, class T>
__global__ void __launch_bounds__(BLOCK, 1) norm_slopes(struct row_teams t, const slope_work<T> w)
{
    alignas(16) __shared__ float shared[2 * V * BLOCK];
    int teams = BLOCK / t.lanes;
    int64_t step = (int64_t)gridDim.x * teams;
    column_sums<V> sums[ITEMS];
#pragma unroll
    for (int n = 0; n < ITEMS; n++)
        sums[n].s = sums[n].t = same<V>(0);
    for (int64_t i = (int64_t)blockIdx.x * teams + threadIdx.x / t.lanes; i < t.rows; i += step)
        slope_row<V, ITEMS>(w, t, i, sums);
    if (!w.partial)
        return;
#pragma unroll
    for (int n = 0; n < ITEMS; n++)
        write_column_sums<V>(sums[n], t.lanes, (int64_t)n * t.lanes * V, t.cols,
                             w.partial + blockIdx.x * 2 * t.cols, shared);
}

/* dx of other rows, one warp per row. */
template <int V, class T>
__global__ void __launch_bounds__(BLOCK, 1) norm_slopes_long(struct row_teams t, const slope_work<T> w)
{
    int64_t first = (int64_t)(threadIdx.x % WARP) * V, step = (int64_t)gridDim.x * (BLOCK / WARP);
    for (int64_t i = (int64_t)blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP; i < t.rows; i += step) {
        float g = 0, gn = 0;
        for (int64_t k = first; k < t.cols; k += WARP * V) {
            row_part<V> part = read_part<V>(w, i, k, NULL);
            g += sum_of(part.g);
            gn += sum_of(part.g * part.n);
        }
        float g_mean = team_sum(WHOLE_WARP, WARP, g) / (float)t.cols;
        float gn_mean = team_sum(WHOLE_WARP, WARP, gn) / (float)t.cols;
        for (int64_t k = first; k < t.cols; k += WARP * V)
            put_slope(w, i, k, read_part<V>(w, i, k, NULL), g_mean, gn_mean);
    }
}

/* Their column sums. */
template <class T> struct row_sums {
    slope_work<T> w;

    __device__ void enter(int64_t)
    {
    }
    template <int V> __device__ void add(int64_t i, int64_t k, column_sums<V> &sums) const
    {
        read_part<V>(w, i, k, &sums);
    }
};

template <class T> cuda_status run_long(const struct call &call, struct row_teams t, const slope_work<T> &w)
{
    cuda_status status = cudaSuccess;
    if (mat_present(w.dx))
        status = run(call, row_teams_launch(t, LAUNCH_MAX_X),
                     t.width == WIDE ? norm_slopes_long<WIDE, T> : norm_slopes_long<1, T>, t, w);
    const row_sums<T> sums = {w};
    if (status.fault || !w.partial)
        return status;
    return run_column_partials(call, columns_of(t.rows, t.cols, t.width), sums, w.partial);
}

template <class T> cuda_status run_slopes(const struct call &call, struct row_teams t, const slope_work<T> &w)
{
    struct launch plan = row_teams_launch(t, SUM_BLOCKS);
    switch (t.items) {
    case 1:
        return run(call, plan, norm_slopes<WIDE, 1, T>, t, w);
    case 2:
        return run(call, plan, norm_slopes<WIDE, 2, T>, t, w);
    case 4:
        return run(call, plan, norm_slopes<WIDE, 4, T>, t, w);
    case 8:
        return run(call, plan, norm_slopes<WIDE, 8, T>, t, w);
    default:
        return run_long(call, t, w);
    }
}

struct row_teams teams_of(const struct layer_norm_backward_args *a, int width)
{
    return row_teams_of(a->x.rows, a->x.cols, width);
}

/* The number of partial sums per column. */
int64_t partial_count(struct row_teams t)
{
    return t.items ? row_teams_launch(t, SUM_BLOCKS).grid_x : columns_of(t.rows, t.cols, t.width).chunks;
}
} // namespace

extern "C" void cuda_layer_norm_backward(const void *args)
{
    const struct layer_norm_backward_args *a = (const struct layer_norm_backward_args *)args;
    const struct mat all[] = {a->dx, a->dy, a->x, a->gain};
    struct row_teams t = teams_of(a, width_of(all, 4));
    bool sums = mat_present(a->dgain) || mat_present(a->dbias);
    float *partial = sums ? (float *)a->call.scratch : NULL;
    CUDA_CHECK(a->call, by_type(a->x.dtype, [&](auto zero) {
                   const slope_work<decltype(zero)> w = {a->dx, a->dy, a->x, a->gain, a->stats, partial};
                   return run_slopes(a->call, t, w);
               }));
    const struct column_results to = {a->dbias, a->dgain, {}, 0};
    if (sums)
        CUDA_CHECK(a->call, run_column_totals(a->call, partial_count(t), t.cols, partial, to));
}

extern "C" int64_t cuda_layer_norm_backward_scratch(const void *args)
{
    const struct layer_norm_backward_args *a = (const struct layer_norm_backward_args *)args;
    int64_t wide = partial_count(teams_of(a, WIDE)), narrow = partial_count(teams_of(a, 1));
    return columns_bytes(max_of(wide, narrow), a->x.cols);
}
