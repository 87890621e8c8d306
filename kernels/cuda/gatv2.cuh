/*
 * Scores of GATv2 (ref/gatv2.c) on the device: s = att . leaky(x) for each head, x = r_i + l_j, and with
 * edges
 * + c_e, or + loop_i of the loop that each node has behind its edges. Lanes share heads as in heads.cuh.
 */
#ifndef GTMARK_KERNELS_CUDA_GATV2_CUH
#define GTMARK_KERNELS_CUDA_GATV2_CUH

#include "kernels/cuda/heads.cuh"
#include "kernels/cuda/math.h"

struct leaky_work {
    struct mat l, r, att, c, loop; /* c and loop may be absent */
    float slope;
};

/* An edge from j to i with its row of c, or a loop with that of `loop`. */
struct leaky_edge {
    int64_t i, j, row;
    const struct mat &in;
};

static __device__ inline float leaky(float x, float slope)
{
    return fmaxf(x, slope * x);
}

/* The lane's slice of x, given those of r_i and l_j. */
template <int V, int ITEMS>
static __device__ slice<V, ITEMS> leaky_slice(const struct heads &h, const struct head_place &p,
                                              const slice<V, ITEMS> &r, const slice<V, ITEMS> &l,
                                              const struct leaky_edge &e)
{
    slice<V, ITEMS> x, c = {};
    if (present(e.in))
        c = load_slice<V, ITEMS>(h, p, e.in, e.row);
#pragma unroll
    for (int n = 0; n < ITEMS; n++)
        x.at[n] = r.at[n] + l.at[n] + c.at[n];
    return x;
}

template <int V> static __device__ float leaky_product(vec<V> x, vec<V> att, float slope)
{
    float sum = 0;
#pragma unroll
    for (int v = 0; v < V; v++)
        sum += leaky(x.at[v], slope) * att.at[v];
    return sum;
}

/* The score as an exponent of 2, in all lanes of the head; as in head_product from slices, or read again. */
template <int V, int ITEMS>
static __device__ float leaky_score(const struct heads &h, const struct team &t, const struct head_place &p,
                                    const struct leaky_work &w, const slice<V, ITEMS> &x,
                                    const slice<V, ITEMS> &att, const struct leaky_edge &e)
{
    float sum = 0;
    if (h.parts == 1) {
#pragma unroll
        for (int n = 0; n < ITEMS; n++)
            sum += leaky_product(x.at[n], att.at[n], w.slope);
    } else {
        int64_t first = p.head * h.size;
        for (int64_t c = (int64_t)(t.lane % h.group) * V; c < h.size && p.active; c += (int64_t)h.group * V) {
            vec<V> all = load<V>(entry(w.r, e.i, first + c)) + load<V>(entry(w.l, e.j, first + c));
            if (present(e.in))
                all = all + load<V>(entry(e.in, e.row, first + c));
            sum += leaky_product(all, load<V>(entry(w.att, 0, first + c)), w.slope);
        }
    }
    return __fmul_rn(team_sum(t.mask, h.group, sum), LOG2E);
}

#endif
