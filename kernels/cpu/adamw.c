/*
 * AdamW in one pass over parameters p, moments m and v, and gradients g; the formulas are in ref/adamw.c.
 * Factors that depend only on the step are computed once, in double, from schedule = [t, lr].
 */
#include "kernels/cpu/elementwise.h"

#include <math.h>

struct step {
    float beta1, rest1, beta2, rest2, keep, rate, unbias2, eps;
};

static struct step step_of(const struct adamw_args *a)
{
    const double *schedule = a->schedule.data;
    double t = schedule[0], lr = schedule[1];
    return (struct step){.beta1 = (float)a->beta1,
                         .rest1 = (float)(1 - a->beta1),
                         .beta2 = (float)a->beta2,
                         .rest2 = (float)(1 - a->beta2),
                         .keep = (float)(1 - lr * a->decay),
                         .rate = (float)(lr / (1 - pow(a->beta1, t))),
                         .unbias2 = (float)(1 / (1 - pow(a->beta2, t))),
                         .eps = (float)a->eps};
}

static void update(struct step s, int64_t n, float *restrict p, float *restrict m, float *restrict v,
                   const float *restrict g)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        float first = s.beta1 * m[k] + s.rest1 * g[k];
        float second = s.beta2 * v[k] + s.rest2 * (g[k] * g[k]);
        m[k] = first;
        v[k] = second;
        p[k] = s.keep * p[k] - s.rate * first / (sqrtf(s.unbias2 * second) + s.eps);
    }
}

void CPU(adamw)(const void *args)
{
    const struct adamw_args *a = args;
    struct pieces p = pieces_of(a->p.rows, a->p.cols, (const struct mat[]){a->p, a->m, a->v, a->g}, 4);
    struct step s = step_of(a);
    int threads = threads_for(&a->call, mat_size(a->p), GRAIN);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < p.count; i++)
        update(s, piece_size(p, i), piece(p, a->p, i), piece(p, a->m, i), piece(p, a->v, i),
               piece(p, a->g, i));
}
