/*
 * AdamW (Loshchilov and Hutter 2019), as in ref/adamw.c, in one launch over all parameters; the step t and
 * the learning rate are read from schedule = [t, lr] in device memory, so that replays of a captured program
 * advance.
 *
 *   m = b1 m + (1 - b1) g    v = b2 v + (1 - b2) g^2
 *   p = p (1 - lr decay) - lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
 *
 * The factors that depend on t are computed in double once per block; each entry needs one load and one
 * store.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/refusal.h"

namespace
{
struct adamw_work {
    struct mat p, m, v, g;
    const double *schedule; /* t, lr */
    double beta1, beta2, eps, decay;
};

struct adamw_factors {
    float beta1, rest1, beta2, rest2, keep, step, unbias2, eps;
};

/* base^n; of a double, some 2 log2(n) units in its last place are lost, which no float shows. */
__device__ double whole_power(double base, uint64_t n)
{
    double power = 1;
    for (; n > 0; n /= 2, base *= base)
        if (n % 2)
            power *= base;
    return power;
}

__device__ struct adamw_factors factors_of(const struct adamw_work &w)
{
    uint64_t t = (uint64_t)w.schedule[0];
    double lr = w.schedule[1];
    struct adamw_factors f;
    f.beta1 = (float)w.beta1;
    f.rest1 = (float)(1 - w.beta1);
    f.beta2 = (float)w.beta2;
    f.rest2 = (float)(1 - w.beta2);
    f.keep = (float)(1 - lr * w.decay);
    f.step = (float)(lr / (1 - whole_power(w.beta1, t)));
    f.unbias2 = (float)(1 / (1 - whole_power(w.beta2, t)));
    f.eps = (float)w.eps;
    return f;
}

struct adamw_entries {
    const struct adamw_work &w;
    const struct adamw_factors &f;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> p = load<V>(entry(w.p, i, k)), m = load<V>(entry(w.m, i, k));
        vec<V> v = load<V>(entry(w.v, i, k)), g = load<V>(entry(w.g, i, k));
#pragma unroll
        for (int n = 0; n < V; n++) {
            m.at[n] = f.beta1 * m.at[n] + f.rest1 * g.at[n];
            v.at[n] = f.beta2 * v.at[n] + f.rest2 * g.at[n] * g.at[n];
            p.at[n] = f.keep * p.at[n] - f.step * m.at[n] / (sqrtf(f.unbias2 * v.at[n]) + f.eps);
        }
        store(entry(w.m, i, k), m);
        store(entry(w.v, i, k), v);
        store(entry(w.p, i, k), p);
    }
};

template <int V> __global__ void __launch_bounds__(BLOCK, 1) adamw(struct lines l, const struct adamw_work w)
{
    __shared__ struct adamw_factors shared;
    if (threadIdx.x == 0)
        shared = factors_of(w);
    __syncthreads();
    const struct adamw_factors f = shared;
    const adamw_entries entries = {w, f};
    do_entries<V>(l, entries);
}

/* Few enough blocks that computing the factors is negligible, enough to keep a large device busy. */
enum { ADAMW_BLOCKS = 2048 };

__global__ void advance(double *schedule)
{
    schedule[0] += 1;
}
} // namespace

extern "C" void cuda_adamw(const void *args)
{
    const struct adamw_args *a = (const struct adamw_args *)args;
    const struct mat all[] = {a->p, a->m, a->v, a->g};
    struct lines l = lines_of(all, 4);
    const struct adamw_work w = {lines_view(l, a->p),
                                 lines_view(l, a->m),
                                 lines_view(l, a->v),
                                 lines_view(l, a->g),
                                 (const double *)a->schedule.data,
                                 a->beta1,
                                 a->beta2,
                                 a->eps,
                                 a->decay};
    struct launch plan = lines_launch(l);
    plan.grid_x = (unsigned)min_of(plan.grid_x, ADAMW_BLOCKS);
    CUDA_CHECK(a->call, run(a->call, plan, l.width == WIDE ? adamw<WIDE> : adamw<1>, l, w));
}

extern "C" void cuda_advance(const void *args)
{
    const struct advance_args *a = (const struct advance_args *)args;
    const struct launch one = {1, 1, 1, 1, 0};
    CUDA_CHECK(a->call, run(a->call, one, advance, (double *)a->schedule.data));
}

/* The simplest kernel: of the same build as all others. */
extern "C" cudaError_t cuda_probe(void)
{
    cudaFuncAttributes unused;
    return cudaFuncGetAttributes(&unused, (const void *)advance);
}
