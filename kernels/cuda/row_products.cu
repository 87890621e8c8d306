/*
 * Products of rows, each summed by a team of lanes:
 *
 *   row_dot    y_i = a_i . b_i                              da (+)= dy b    db (+)= dy a
 *   l2_norm    y = x scale, scale = 1 / sqrt(x . x + eps)   dx (+)= (dy - y (dy . y)) scale
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"

namespace
{
template <int V, class T>
__device__ float row_product(const struct row_teams &t, const struct mat &a, const struct mat &b, int64_t i)
{
    float sum = 0;
    for (int64_t k = (int64_t)(threadIdx.x % t.lanes) * V; k < t.cols; k += (int64_t)t.lanes * V)
        sum += sum_of(load<V>(entry<T>(a, i, k)) * load<V>(entry<T>(b, i, k)));
    return team_sum(team_mask(t.lanes), t.lanes, sum);
}

/* F::begin<V>(t, i) for each row i, by all lanes of its team, and F::at<V>(i, k) for its entries. */
template <int V, class F>
__global__ void __launch_bounds__(BLOCK, 1) each_row(struct row_teams t, const F given)
{
    int lane = (int)threadIdx.x % t.lanes, teams = BLOCK / t.lanes;
    int64_t step = (int64_t)gridDim.x * teams;
    F f = given;
    for (int64_t i = (int64_t)blockIdx.x * teams + threadIdx.x / t.lanes; i < t.rows; i += step) {
        f.template begin<V>(t, i);
        for (int64_t k = (int64_t)lane * V; k < t.cols; k += (int64_t)t.lanes * V)
            f.template at<V>(i, k);
    }
}

/* F<T> of these members, where T is the type of the entries; `all` are the matrices of the rows that it reads
 * and writes. */
template <template <class> class F, class... Members>
cuda_status run_rows(const struct call &call, const struct mat *all, int count, const Members &...members)
{
    struct row_teams t = row_teams_of(all[0].rows, all[0].cols, width_of(all, count));
    return by_type(all[0].dtype, [&](auto zero) {
        typedef F<decltype(zero)> rows;
        const rows f = {members...};
        return run(call, row_teams_launch(t, LAUNCH_MAX_X),
                   t.width == WIDE ? each_row<WIDE, rows> : each_row<1, rows>, t, f);
    });
}

template <class T> struct dot_rows {
    struct mat y, a, b;

    template <int V> __device__ void begin(const struct row_teams &t, int64_t i)
    {
        float product = row_product<V, T>(t, a, b, i);
        if (threadIdx.x % t.lanes == 0)
            store<1>(entry<T>(y, i, 0), {product});
    }
    template <int V> __device__ void at(int64_t, int64_t) const
    {
    }
};

template <class T> struct dot_gradients {
    struct mat da, db, dy, a, b;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        float slope = load<1>(entry<T>(dy, i, 0)).at[0];
        if (present(da))
            put(entry<T>(da, i, k), da.acc, load<V>(entry<T>(b, i, k)) * slope);
        if (present(db))
            put(entry<T>(db, i, k), db.acc, load<V>(entry<T>(a, i, k)) * slope);
    }
};

template <class T> struct unit_rows {
    struct mat y, scale, x;
    float eps, factor;

    template <int V> __device__ void begin(const struct row_teams &t, int64_t i)
    {
        factor = 1 / sqrtf(row_product<V, T>(t, x, x, i) + eps);
        if (present(scale) && threadIdx.x % t.lanes == 0)
            *entry(scale, i, 0) = factor;
    }
    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        store(entry<T>(y, i, k), load<V>(entry<T>(x, i, k)) * factor);
    }
};

template <class T> struct unit_gradients {
    struct mat dx, dy, y, scale;
    float along, factor;

    template <int V> __device__ void begin(const struct row_teams &t, int64_t i)
    {
        along = row_product<V, T>(t, dy, y, i);
        factor = *entry(scale, i, 0);
    }
    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> across = load<V>(entry<T>(dy, i, k)) - load<V>(entry<T>(y, i, k)) * along;
        put(entry<T>(dx, i, k), dx.acc, across * factor);
    }
};
} // namespace

extern "C" void cuda_row_dot(const void *args)
{
    const struct row_dot_args *a = (const struct row_dot_args *)args;
    const struct mat all[] = {a->a, a->b};
    CUDA_CHECK(a->call, run_rows<dot_rows>(a->call, all, 2, a->y, a->a, a->b));
}

extern "C" void cuda_row_dot_backward(const void *args)
{
    const struct row_dot_backward_args *a = (const struct row_dot_backward_args *)args;
    const struct mat all[] = {a->a, a->b, a->da, a->db};
    struct lines l = lines_by_row(a->a.rows, a->a.cols, width_of(all, 4));
    CUDA_CHECK(a->call, run_entries<dot_gradients>(a->call, a->a.dtype, l, a->da, a->db, a->dy, a->a, a->b));
}

extern "C" void cuda_l2_norm(const void *args)
{
    const struct l2_norm_args *a = (const struct l2_norm_args *)args;
    const struct mat all[] = {a->x, a->y};
    CUDA_CHECK(a->call, run_rows<unit_rows>(a->call, all, 2, a->y, a->scale, a->x, (float)a->eps, 0.0f));
}

extern "C" void cuda_l2_norm_backward(const void *args)
{
    const struct l2_norm_backward_args *a = (const struct l2_norm_backward_args *)args;
    const struct mat all[] = {a->y, a->dy, a->dx};
    CUDA_CHECK(a->call, run_rows<unit_gradients>(a->call, all, 3, a->dx, a->dy, a->y, a->scale, 0.0f, 0.0f));
}
