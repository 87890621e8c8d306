/*
 * The smallest eigenpairs by subspace iteration with Chebyshev filters (Rutishauser, "Computational aspects
 * of F. L. Bauer's simultaneous iteration method", 1969; Zhou, Saad, Tiago and Chelikowsky,
 * "Self-consistent-field calculations using Chebyshev-filtered subspace iteration", 2006).
 *
 * A block of more columns than pairs are wanted is multiplied by T_m(A), A = (2 T - (a + b)) / (b - a) and
 * T = M^-1 L: that is at most 1 on the eigenvectors from a to the bound b, and grows beyond measure below a,
 * where the wanted ones are. A Rayleigh-Ritz step then finds the best pairs in the span of the block, and the
 * largest of their values is the next a. The degree m is what the worst pair still needs, but no more than
 * keeps the gain below GAIN: beyond, what float lost in the lowest columns would drown the others.
 *
 * The recurrence t_(k+1) = 2 A t_k - t_(k-1) runs with its signs turned, u_k = t_k but for u_2 = -t_2,
 * u_3 = -t_3, u_6, u_7 and so on: u_(k+1) = -+ 2 A u_k + u_(k-1), which adds to what is there.
 *
 * The block starts random and all of it is iterated to the end, so that every eigenvector below a has had the
 * gain that the last wanted pair needed: none is left out, however its neighbours look.
 */
#include "models/eigen.h"

#include <math.h>
#include <string.h>

#include "kernels/rng.h"

static const double GAIN = 1e5;
static const double GAIN_OF_CONSTANT =
    1e6; /* over that of the lowest pair; it is taken out, but what float loses */
static const double GAIN_MOST = 1e20; /* of which float holds the square */
static const double DEPENDENT =
    1e-8; /* what a column has left, squared, once those before it are taken out */
static const double EIGENVALUE = 2e-5; /* relative error of an eigenvalue that is aimed at */

static const double SKEW = 5e-6;       /* more than float costs, and too much */
static const double SMOOTH_FROM = 0.1; /* of the bound */

enum {
    GUARDS = 8,
    UNIT = 16, /* columns: a vector of the widest instruction set */
    DEGREE_LEAST = 4,
    SMOOTH_DEGREE = 5,
    IDLE = 5 /* steps that bring nothing, after which there is no more to gain */
};

struct iteration {
    struct eager *e;
    const struct pencil *p;
    int64_t wanted, wide;
    struct mat x, y, z;              /* n x wide: the block, and two to work with */
    struct mat gram, energy, square; /* wide x wide, F64: X' M X, X' L X, */
    struct mat sums;                 /* 1 x wide, F64: 1' M X */
    struct mat turn, shift;          /* wide x wide and 1 x wide: the block becomes x turn' + shift */
    double *value, *before;          /* Ritz values, and those of the step before */
    double *residual;                /* of each */
    double *work;                    /* of the small problem */
    int64_t work_size, count;        /* products so far */
    double total, skew;              /* mass; how far the block is from orthonormal */
};

double eigen_allowed(double value, double norm)
{
    return fmax(1e-3 * value, 2e-7 * norm);
}

static void product(struct iteration *s, struct mat y, struct mat x, double alpha, double beta)
{
    run_op(s->e, laplacian, .y = y, .x = x, .q = s->p->q, .w = s->p->weight, .adj = s->p->adj, .alpha = alpha,
           .beta = beta);
    s->count++;
}

static void swap(struct mat *a, struct mat *b)
{
    struct mat c = *a;
    *a = *b;
    *b = c;
}

/* The block times T_m(A). */
static void filter(struct iteration *s, double a, int64_t degree)
{
    double b = s->p->bound, alpha = 2 / (b - a), beta = -(a + b) / (b - a), sign = -1;
    product(s, s->z, s->x, alpha, beta);
    swap(&s->x, &s->z);
    for (int64_t k = 1; k < degree; k++, sign = -sign) {
        s->z.acc = true;
        product(s, s->z, s->x, sign * 2 * alpha, sign * 2 * beta);
        s->z.acc = false;
        swap(&s->x, &s->z);
    }
}

static double *entry(struct mat m, int64_t i, int64_t k)
{
    return (double *)m.data + i * m.ld + k;
}

/*
 * Overwrites the Gram matrix by C with C' G C = 1, upper triangular: Gram-Schmidt on coefficients. Columns
 * that depend on those before become zero.
 */
static void orthonormalise(struct iteration *s, double *c)
{
    int64_t n = s->wide;
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    for (int64_t j = 0; j < n; j++) {
        double own = *entry(s->gram, j, j), left = own;
        c[j * n + j] = 1;
        for (int64_t i = 0; i < j; i++) {
            double dot = 0;
            for (int64_t k = 0; k <= i; k++)
                dot += c[k * n + i] * *entry(s->gram, k, j);
            for (int64_t k = 0; k <= i; k++)
                c[k * n + j] -= dot * c[k * n + i];
            left -= dot * dot;
        }
        double scale = left > DEPENDENT * own && own > 0 ? 1 / sqrt(left) : 0;
        for (int64_t k = 0; k <= j; k++)
            c[k * n + j] *= scale;
    }
}

/* out (n x n) = c' energy c; where c has a zero column, a diagonal beyond all others. */
static void project(struct iteration *s, const double *c, double *half, double *out)
{
    int64_t n = s->wide;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k <= j; k++)
                sum += *entry(s->energy, i, k) * c[k * n + j];
            half[i * n + j] = sum;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k <= i; k++)
                sum += c[k * n + i] * half[k * n + j];
            out[i * n + j] = c[i * n + i] == 0 && i == j ? 4 * s->p->bound : sum;
        }
}

/* turn' = c times the eigenvectors (rows of v), and the shift that takes the constant out. */
static void set_turn(struct iteration *s, const double *c, const double *v)
{
    int64_t n = s->wide;
    float *turn = s->turn.data, *shift = s->shift.data;
    for (int64_t j = 0; j < n; j++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t k = i; k < n; k++)
                sum += c[i * n + k] * v[j * n + k];
            turn[j * n + i] = (float)sum;
            mean += sum * *entry(s->sums, 0, i) / s->total;
        }
        shift[j] = (float)-mean;
    }
}

/* Columns beyond the rank of the block are drawn anew. */
static void draw(struct iteration *s, int64_t first)
{
    if (first < s->wide)
        run_op(s->e, uniform, .y = mat_cols(s->x, first, s->wide - first),
               .key = rng_bits(rng_key(0, "eigen"), (uint64_t)s->count), .bound = 1);
}

/* The Gram matrix, the energy and L's square, of the block as it is; the constant is taken out of the first.
 */
static void inner_products(struct iteration *s)
{
    product(s, s->z, s->x, 1, 0);
    run_op(s->e, gram, .g = s->gram, .x = s->x, .y = s->x, .m = s->p->mass);
    run_op(s->e, gram, .g = s->energy, .x = s->x, .y = s->z, .m = s->p->mass);
    run_op(s->e, gram, .g = s->sums, .x = s->p->mass, .y = s->x);
    for (int64_t i = 0; i < s->wide; i++)
        for (int64_t j = 0; j < s->wide; j++)
            *entry(s->gram, i, j) -= *entry(s->sums, 0, i) * *entry(s->sums, 0, j) / s->total;
    for (int64_t i = 0; i < s->wide; i++)
        for (int64_t j = 0; j < i; j++)
            *entry(s->energy, i, j) = *entry(s->energy, j, i) =
                (*entry(s->energy, i, j) + *entry(s->energy, j, i)) / 2;
}

/* How far the wanted columns are from orthonormal. */
static double find_skew(const struct iteration *s)
{
    double most = 0;
    for (int64_t i = 0; i < s->wanted; i++)
        for (int64_t j = 0; j <= i; j++)
            most = fmax(most, fabs(*entry(s->gram, i, j) - (i == j)));
    return most;
}

/* Ritz values and |T x - value x| / |x| of each column, in the norm of M, from the columns as float has them.
 */
static void find_residuals(struct iteration *s)
{
    inner_products(s);
    run_op(s->e, gram, .g = s->square, .x = s->z, .y = s->z, .m = s->p->mass);
    s->skew = find_skew(s);
    for (int64_t j = 0; j < s->wide; j++) {
        double norm = *entry(s->gram, j, j), value = *entry(s->energy, j, j) / norm;
        s->value[j] = value;
        s->residual[j] = sqrt(fmax(0, *entry(s->square, j, j) / norm - value * value));
    }
}

/* The best pairs in the span of the block. */
static bool rayleigh_ritz(struct iteration *s)
{
    int64_t n = s->wide, square = n * n;
    double *c = s->work, *half = c + square, *small = half + square, *v = small + square, *rest = v + square;
    inner_products(s);
    orthonormalise(s, c);
    project(s, c, half, small);
    memcpy(s->before, s->value, (size_t)n * sizeof *s->value);
    if (!eager_good(s->e))
        return false;
    int info = dense_symmetric(n, small, 0, n, s->value, v, rest);
    if (info)
        return eager_fail(s->e, "the small problem of %lld columns failed, info %d", (long long)n, info);
    set_turn(s, c, v);
    run_op(s->e, linear, .y = s->y, .x = s->x, .w = s->turn, .b = s->shift, .act = ACT_NONE);
    eager_charge(s->e, dense_flops(n, n), 0);
    swap(&s->x, &s->y);
    int64_t rank = n;
    while (rank > 0 && s->value[rank - 1] > 1.01 * s->p->bound)
        rank--;
    draw(s, rank);
    find_residuals(s);
    return eager_good(s->e);
}

/* What the residual of a pair should be; its eigenvalue is off by its square over the gap. */
static double wanted_residual(const struct iteration *s, int64_t j)
{
    double value = s->value[j], gap = s->value[s->wide - 1] - value;
    double moved = fabs(value - s->before[j]), allowed = eigen_allowed(value, s->p->norm) / 2;
    return moved <= EIGENVALUE / 2 * value ? allowed : fmin(allowed, sqrt(EIGENVALUE * value * gap));
}

/* What the residual of the worst pair is too large by. */
static double excess(const struct iteration *s)
{
    double most = 0;
    for (int64_t j = 0; j < s->wanted; j++)
        most = fmax(most, s->residual[j] / wanted_residual(s, j));
    return most;
}

/* The degree that brings all pairs where they should be, or that GAIN allows. */
static int64_t next_degree(const struct iteration *s, double a)
{
    double b = s->p->bound, lowest = fmax(0, s->value[0] - 2 * s->residual[0]);
    double bottom = acosh(fmax(1, (b + a - 2 * lowest) / (b - a))), need = 0;
    for (int64_t j = 0; j < s->wanted; j++) {
        double gain = 4 * s->residual[j] / wanted_residual(s, j);
        double growth = acosh(fmax(1, (b + a - 2 * s->value[j]) / (b - a)));
        if (gain > 4)
            need = fmax(need, acosh(gain) / growth);
    }
    double constant = acosh((b + a) / (b - a));
    double degree = fmin(fmin(need, log(GAIN) / bottom), log(GAIN_MOST) / constant);
    if (constant > bottom)
        degree = fmin(degree, log(GAIN_OF_CONSTANT) / (constant - bottom));
    return degree > DEGREE_LEAST ? (int64_t)ceil(degree) : DEGREE_LEAST;
}

/* Whether what is allowed comes near to what float loses in a long recurrence, which a short one after it
 * takes out again; that must not damp the block itself. */
static bool noisy(const struct iteration *s)
{
    return eigen_allowed(s->value[0], s->p->norm) < 1e-5 * s->p->bound &&
           s->value[s->wide - 1] < SMOOTH_FROM * s->p->bound;
}

/* Whether all pairs are as good as float allows. */
static bool at_floor(const struct iteration *s)
{
    double most = 0;
    for (int64_t j = 0; j < s->wanted; j++)
        most = fmax(most, s->residual[j]);
    return most < 1e-6 * s->p->bound;
}

static bool take(struct iteration *s, struct eager *e, const struct pencil *p, int64_t wanted)
{
    int64_t room = (wanted + GUARDS + UNIT - 1) / UNIT * UNIT, n = p->n;
    int64_t wide = room < n - 1 ? room : n - 1;
    *s = (struct iteration){.e = e, .p = p, .wanted = wanted, .wide = wide};
    s->x = eager_matrix(e, F32, n, wide);
    s->y = eager_matrix(e, F32, n, wide);
    s->z = eager_matrix(e, F32, n, wide);
    s->gram = eager_matrix(e, F64, wide, wide);
    s->energy = eager_matrix(e, F64, wide, wide);
    s->square = eager_matrix(e, F64, wide, wide);
    s->sums = eager_matrix(e, F64, 1, wide);
    s->turn = eager_matrix(e, F32, wide, wide);
    s->shift = eager_matrix(e, F32, 1, wide);
    s->work_size = (3 * wide + 4 * wide * wide + dense_work(wide, wide)) * 8;
    s->value = eager_take(e, s->work_size);
    if (!eager_good(e))
        return false;
    s->before = s->value + wide;
    s->residual = s->before + wide;
    s->work = s->residual + wide;
    for (int64_t i = 0; i < n; i++)
        s->total += ((const float *)p->mass.data)[i];
    for (int64_t j = 0; j < wide; j++)
        s->value[j] = 0;
    return true;
}

static void give(struct iteration *s)
{
    struct mat *all[] = {&s->x,      &s->y,    &s->z,    &s->gram, &s->energy,
                         &s->square, &s->sums, &s->turn, &s->shift};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        eager_release(s->e, all[i]);
    eager_give(s->e, s->value, s->work_size);
}

bool eigen_chebyshev(struct eager *e, const struct pencil *p, int64_t most, struct eigenpairs *pairs)
{
    struct iteration s;
    if (!take(&s, e, p, pairs->count)) {
        give(&s);
        return false;
    }
    draw(&s, 0);
    bool done = rayleigh_ritz(&s);
    double least = INFINITY, now = excess(&s);
    for (int idle = 0; done && (now > 1 || s.skew > SKEW) && idle < IDLE && s.count < most;
         now = excess(&s)) {
        double a = s.value[s.wide - 1];
        if (excess(&s) > 1)
            filter(&s, a, next_degree(&s, a));
        if (excess(&s) > 1 && noisy(&s))
            filter(&s, SMOOTH_FROM * p->bound, SMOOTH_DEGREE);
        done = rayleigh_ritz(&s);
        idle = !at_floor(&s) || excess(&s) < 0.9 * least ? 0 : idle + 1;
        least = fmin(least, excess(&s));
    }
    run_op(e, copy, .y = pairs->x, .x = mat_cols(s.x, 0, pairs->count));
    if (done)
        memcpy(pairs->value, s.value, (size_t)pairs->count * sizeof *pairs->value);
    pairs->iterations = s.count;
    give(&s);
    return done;
}
