/*
 * ARPACK (Lehoucq, Sorensen and Yang, "ARPACK Users' Guide", 1998) as an independent solver for comparison:
 * the implicitly restarted Lanczos method for the smallest algebraic eigenvalues, called as in scipy's
 * eigsh(which="SA").
 *
 * The matrix is M^-1/2 L M^-1/2 in double. The known pair of the constant is deflated: the operator adds
 * `bound` times the projector onto it. The tolerance is machine precision, as in eigsh: with a larger one, a
 * single starting vector finds only one of several equal eigenvalues and stops. Even so, ARPACK may miss
 * copies of multiple eigenvalues, as it does on hypercubes and binary trees; residuals do not show this,
 * encoding_missed does. It is therefore for comparison only and never chosen by `auto`.
 */
#include "kernels/arithmetic.h"
#include "kernels/blas.h"
#include "models/encodings/eigen.h"

#include <math.h>

/* State shared by dsaupd and dseupd. */
struct lanczos {
    const struct pencil *p;
    int n, wanted, vectors, lworkl, info, iparam[11], ipntr[11];
    double tolerance, total;
    double *resid, *v, *workd, *workl, *half; /* half: square roots of the masses */
};

/* y = M^-1/2 L M^-1/2 x + bound u u' x, with u the normalised constant vector. */
static void multiply(const struct lanczos *l, double *restrict y, const double *restrict x)
{
    const struct pencil *p = l->p;
    const int64_t *row = p->adj.row.data;
    const int32_t *col = p->adj.col.data;
    const float *weight = p->weight.data;
    double dot = 0;
    for (int64_t i = 0; i < p->n; i++)
        dot += l->half[i] * x[i];
    dot *= p->bound / l->total;
    for (int64_t i = 0; i < p->n; i++) {
        double own = x[i] / l->half[i], sum = 0;
        for (int64_t e = row[i]; e < row[i + 1]; e++)
            sum += (weight ? weight[e] : 1) * (own - x[col[e]] / l->half[col[e]]);
        y[i] = sum / l->half[i] + dot * l->half[i];
    }
}

static void start(struct lanczos *l, const struct pencil *p, int64_t wanted, int64_t most, double *work)
{
    int64_t n = p->n;
    *l = (struct lanczos){.p = p, .n = (int)n, .wanted = (int)wanted, .info = 1};
    l->vectors = (int)min_of(n, max_of(20, 2 * wanted + 1));
    l->lworkl = l->vectors * (l->vectors + 8);
    l->resid = work;
    l->v = l->resid + n;
    l->workd = l->v + n * l->vectors;
    l->workl = l->workd + 3 * n;
    l->half = l->workl + l->lworkl;
    l->iparam[0] = 1;
    l->iparam[2] = (int)max_of(1, most / l->vectors);
    l->iparam[6] = 1;
    for (int64_t i = 0; i < n; i++) {
        double mass = ((const float *)p->mass.data)[i];
        l->half[i] = sqrt(mass);
        l->total += mass;
        l->resid[i] = 1 + (double)(i * 7919 % 104729) / 104729;
    }
}

static int64_t work_of(int64_t n, int64_t wanted)
{
    int64_t vectors = 2 * wanted + 21;
    return 5 * n + n * vectors + vectors * (vectors + 8) + n * wanted + wanted;
}

/* Iterates until ARPACK converges, gives up or is cancelled; returns the number of products. */
static int64_t run_lanczos(struct lanczos *l, struct eager *e)
{
    int ido = 0;
    int64_t products = 0;
    for (; eager_goes_on(e); products++) {
        blas()->dsaupd(&ido, "I", &l->n, "SA", &l->wanted, &l->tolerance, l->resid, &l->vectors, l->v, &l->n,
                       l->iparam, l->ipntr, l->workd, l->workl, &l->lworkl, &l->info);
        if (ido != 1 && ido != -1)
            break;
        multiply(l, l->workd + l->ipntr[1] - 1, l->workd + l->ipntr[0] - 1);
    }
    return products;
}

/* Pairs that did not converge are returned as they are; their residuals reveal them. */
static void extract(struct lanczos *l, double *vectors, double *values, struct eigenpairs *pairs)
{
    int rvec = 1, select[l->vectors];
    double sigma = 0;
    blas()->dseupd(&rvec, "A", select, values, vectors, &l->n, &sigma, "I", &l->n, "SA", &l->wanted,
                   &l->tolerance, l->resid, &l->vectors, l->v, &l->n, l->iparam, l->ipntr, l->workd, l->workl,
                   &l->lworkl, &l->info);
    int64_t found = l->info == 0 ? l->iparam[4] : 0, n = l->n;
    for (int64_t k = 0; k < pairs->count; k++) {
        const double *from = k < found ? vectors + k * n : l->v + k * n;
        pairs->value[k] = k < found ? values[k] : l->p->bound;
        for (int64_t i = 0; i < n; i++)
            ((float *)pairs->x.data)[i * pairs->x.ld + k] = (float)(from[i] / l->half[i]);
    }
}

bool arpack_available(void)
{
    return HAVE_ARPACK;
}

bool eigen_arpack(struct eager *e, const struct pencil *p, int64_t most, struct eigenpairs *pairs)
{
    if (!HAVE_ARPACK)
        return eager_fail(e, "this build has no ARPACK");
    int64_t n = p->n, bytes = work_of(n, pairs->count) * 8;
    double *work = eager_alloc(e, bytes);
    if (!work)
        return false;
    struct lanczos l;
    start(&l, p, pairs->count, most, work);
    pairs->iterations = run_lanczos(&l, e);
    if (l.info < 0)
        eager_fail(e, "ARPACK's dsaupd failed, info %d", l.info);
    if (!eager_good(e)) {
        eager_free(e, work, bytes);
        return false;
    }
    double *vectors = l.half + n;
    extract(&l, vectors, vectors + n * pairs->count, pairs);
    /* Each step does one product and orthogonalises twice, on average against half of the basis. */
    eager_charge(e, pairs->iterations * (4 * p->adj.col.rows + 4 * n * l.vectors),
                 pairs->iterations * (4 * p->adj.col.rows + 8 * n * (l.vectors + 4)));
    eager_free(e, work, bytes);
    return true;
}
