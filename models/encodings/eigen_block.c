/*
 * The Rayleigh-Ritz step of a block X: with G = X' M X and C such that C' G C = 1, the eigenvectors V of C'
 * X' L X C give the Ritz vectors X C V, from which the constant component is removed.
 */
#include "models/encodings/eigen_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/arithmetic.h"
#include "kernels/rng.h"

static const double DEPENDENT =
    1e-8; /* squared norm of a column, relative, after projecting out its predecessors */

enum {
    GUARDS = 8,
    UNIT = 16,         /* columns: one vector of the widest instruction set */
    IN_CACHE = 1 << 19 /* floats */
};

void block_polynomial(struct iteration *s, int64_t degree, double alpha, double beta)
{
    const struct pencil *p = s->p;
    run_op(s->e, chebyshev, .y = s->z, .z = s->y, .x = s->x, .q = p->q, .w = p->weight, .adj = p->adj,
           .degree = (int)degree, .alpha = alpha, .beta = beta);
    s->count += degree;
    /* Charged to the op: one pass through memory. */
    int64_t edges = mat_bytes(p->weight) + mat_bytes(p->adj.row) + mat_bytes(p->adj.col);
    eager_charge(s->e, 0, (degree - 1) * (3 * mat_bytes(s->x) + mat_bytes(p->q) + edges));
}

void block_swap(struct mat *a, struct mat *b)
{
    struct mat c = *a;
    *a = *b;
    *b = c;
}

static double *element(struct mat m, int64_t i, int64_t k)
{
    return (double *)m.data + i * m.ld + k;
}

/*
 * Writes C with C' G C = 1, upper triangular, by Gram-Schmidt on coefficients. Columns that depend linearly
 * on their predecessors become zero.
 */
static void orthonormalise(struct iteration *s, double *c)
{
    int64_t n = s->wide;
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    for (int64_t j = 0; j < n; j++) {
        double own = *element(s->gram, j, j), left = own;
        c[j * n + j] = 1;
        for (int64_t i = 0; i < j; i++) {
            double dot = 0;
            for (int64_t k = 0; k <= i; k++)
                dot += c[k * n + i] * *element(s->gram, k, j);
            for (int64_t k = 0; k <= i; k++)
                c[k * n + j] -= dot * c[k * n + i];
            left -= dot * dot;
        }
        double scale = left > DEPENDENT * own && own > 0 ? 1 / sqrt(left) : 0;
        for (int64_t k = 0; k <= j; k++)
            c[k * n + j] *= scale;
    }
}

/* out (n x n) = c' energy c; for zero columns of c, a diagonal entry larger than any eigenvalue. */
static void project(struct iteration *s, const double *c, double *half, double *out)
{
    int64_t n = s->wide;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k <= j; k++)
                sum += *element(s->energy, i, k) * c[k * n + j];
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

/* transform' = c times the eigenvectors (rows of v), and the shift that removes the constant. */
static void set_transform(struct iteration *s, const double *c, const double *v)
{
    int64_t n = s->wide;
    float *transform = s->transform.data, *shift = s->shift.data;
    for (int64_t j = 0; j < n; j++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t k = i; k < n; k++)
                sum += c[i * n + k] * v[j * n + k];
            transform[j * n + i] = (float)sum;
            mean += sum * *element(s->sums, 0, i) / s->total;
        }
        shift[j] = (float)-mean;
    }
}

void block_randomise(struct iteration *s, int64_t first)
{
    if (first < s->wide)
        run_op(s->e, uniform, .y = mat_cols(s->x, first, s->wide - first),
               .key = rng_bits(rng_key(0, "eigen"), (uint64_t)s->count), .bound = 1);
}

/* The Gram matrix and the energy of the current block; the constant is projected out of the former. */
static void inner_products(struct iteration *s)
{
    block_polynomial(s, 1, 1, 0);
    run_op(s->e, gram, .g = s->gram, .x = s->x, .y = s->x, .m = s->p->mass);
    run_op(s->e, gram, .g = s->energy, .x = s->x, .y = s->z, .m = s->p->mass);
    run_op(s->e, gram, .g = s->sums, .x = s->p->mass, .y = s->x);
    for (int64_t i = 0; i < s->wide; i++)
        for (int64_t j = 0; j < s->wide; j++)
            *element(s->gram, i, j) -= *element(s->sums, 0, i) * *element(s->sums, 0, j) / s->total;
    for (int64_t i = 0; i < s->wide; i++)
        for (int64_t j = 0; j < i; j++)
            *element(s->energy, i, j) = *element(s->energy, j, i) =
                (*element(s->energy, i, j) + *element(s->energy, j, i)) / 2;
}

/* The deviation of the wanted columns from orthonormality. */
static double find_skew(const struct iteration *s)
{
    double most = 0;
    for (int64_t i = 0; i < s->wanted; i++)
        for (int64_t j = 0; j <= i; j++)
            most = fmax(most, fabs(*element(s->gram, i, j) - (i == j)));
    return most;
}

/*
 * Ritz values and |T x - value x| / |x| of each column, in the norm of M, from the columns as rounded to
 * float. The difference is formed explicitly: |T x|^2 - value^2 |x|^2 would carry rounding errors of the
 * float sums as large as the limit.
 */
static void find_residuals(struct iteration *s)
{
    inner_products(s);
    s->skew = find_skew(s);
    memset(s->transform.data, 0, (size_t)mat_bytes(s->transform));
    for (int64_t j = 0; j < s->wide; j++) {
        s->value[j] = *element(s->energy, j, j) / *element(s->gram, j, j);
        ((float *)s->transform.data)[j * (s->wide + 1)] = (float)-s->value[j];
    }
    run_op(s->e, linear, .y = s->y, .x = s->x, .w = s->transform, .act = ACT_NONE);
    s->z.acc = true;
    run_op(s->e, copy, .y = s->z, .x = s->y);
    s->z.acc = false;
    run_op(s->e, gram, .g = s->square, .x = s->z, .y = s->z, .m = s->p->mass);
    for (int64_t j = 0; j < s->wide; j++)
        s->residual[j] = sqrt(fmax(0, *element(s->square, j, j) / *element(s->gram, j, j)));
}

/*
 * Removes the constant once more, now that little of it is left: while it was large, rounding left a
 * remainder that the filter would amplify above everything else. The sums are those of the current block.
 */
static void remove_constant(struct iteration *s)
{
    float *mean = s->shift.data;
    for (int64_t j = 0; j < s->wide; j++)
        mean[j] = (float)(*element(s->sums, 0, j) / s->total);
    run_op(s->e, batch_norm_inference, .y = s->y, .x = s->x, .gain = s->ones, .bias = s->zeros,
           .running_mean = s->shift, .running_var = s->ones);
    block_swap(&s->x, &s->y);
}

/* The Rayleigh-Ritz step. */
static bool ritz(struct iteration *s)
{
    int64_t n = s->wide, square = n * n;
    double *c = s->work, *half = c + square, *small = half + square, *v = small + square, *rest = v + square;
    inner_products(s);
    orthonormalise(s, c);
    project(s, c, half, small);
    if (!eager_good(s->e))
        return false;
    int info = dense_symmetric(n, small, 0, n, s->value, v, rest);
    if (info)
        return eager_fail(s->e, "the projected problem of %lld columns failed, info %d", (long long)n, info);
    set_transform(s, c, v);
    run_op(s->e, linear, .y = s->y, .x = s->x, .w = s->transform, .b = s->shift, .act = ACT_NONE);
    eager_charge(s->e, dense_flops(n, n), 0);
    block_swap(&s->x, &s->y);
    int64_t rank = n;
    while (rank > 0 && s->value[rank - 1] > 1.01 * s->p->bound)
        rank--;
    block_randomise(s, rank);
    s->renewed = n - rank;
    find_residuals(s);
    remove_constant(s);
    return eager_good(s->e);
}

/* Whether waiting threads sleep at once, so that each op must wake them. */
static bool threads_sleep(void)
{
    const char *policy = getenv("OMP_WAIT_POLICY");
    return policy && !strcasecmp(policy, "passive");
}

/*
 * With one thread if others would sleep between the ops, and a core's own cache nearly holds the block and
 * its products: an op is then too short to pay for a wake.
 */
bool block_ritz(struct iteration *s)
{
    int threads = s->e->threads;
    if (2 * mat_size(s->x) <= IN_CACHE && threads_sleep())
        s->e->threads = 1;
    bool done = ritz(s);
    s->e->threads = threads;
    return done;
}

bool block_alloc(struct iteration *s, struct eager *e, const struct pencil *p, int64_t wanted)
{
    int64_t n = p->n, wide = min_of(n - 1, round_up(wanted + GUARDS, UNIT));
    *s = (struct iteration){.e = e, .p = p, .wanted = wanted, .wide = wide};
    s->x = eager_matrix(e, F32, n, wide);
    s->y = eager_matrix(e, F32, n, wide);
    s->z = eager_matrix(e, F32, n, wide);
    s->gram = eager_matrix(e, F64, wide, wide);
    s->energy = eager_matrix(e, F64, wide, wide);
    s->square = eager_matrix(e, F64, wide, wide);
    s->sums = eager_matrix(e, F64, 1, wide);
    s->transform = eager_matrix(e, F32, wide, wide);
    s->shift = eager_matrix(e, F32, 1, wide);
    s->ones = eager_matrix(e, F32, 1, wide);
    s->zeros = eager_matrix(e, F32, 1, wide);
    s->work_size = (2 * wide + 4 * wide * wide + dense_work(wide)) * 8;
    s->value = eager_alloc(e, s->work_size);
    if (!eager_good(e))
        return false;
    run_op(e, fill, .y = s->ones, .value = 1);
    run_op(e, fill, .y = s->zeros, .value = 0);
    s->residual = s->value + wide;
    s->work = s->residual + wide;
    for (int64_t i = 0; i < n; i++)
        s->total += ((const float *)p->mass.data)[i];
    for (int64_t j = 0; j < wide; j++)
        s->value[j] = 0;
    return true;
}

void block_free(struct iteration *s)
{
    struct mat *all[] = {&s->x,    &s->y,         &s->z,     &s->gram, &s->energy, &s->square,
                         &s->sums, &s->transform, &s->shift, &s->ones, &s->zeros};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        eager_release(s->e, all[i]);
    eager_free(s->e, s->value, s->work_size);
}
