/*
 * The smallest eigenpairs of L x = lambda M x on a connected graph, without the pair of the constant: what
 * the solvers of Laplacian encodings share.
 *
 * L = D - W is the Laplacian of a graph with symmetric weights, M a diagonal of positive masses. With masses
 * of one this is D - A; with the degrees as masses, x = D^-1/2 v gives the pairs (lambda, v) of
 * I - D^-1/2 A D^-1/2. Vectors are orthonormal in the inner product of M, and so to the constant.
 */
#ifndef GTMARK_MODELS_EIGEN_H
#define GTMARK_MODELS_EIGEN_H

#include "models/tape/eager.h"

struct pencil {
    int64_t n;
    struct edges adj;  /* symmetric, no loops; only the rows by receiver are there */
    struct mat weight; /* E x 1; absent: ones */
    struct mat mass;   /* n x 1 */
    struct mat q;      /* n x 1: 1 / mass */
    double bound;      /* of the largest eigenvalue */
    double norm;       /* |M^-1/2 L M^-1/2| in the 1-norm, which residuals are compared with */
};

/* What a solver found. A vector v of the symmetric matrix is M^1/2 x. */
struct eigenpairs {
    int64_t count;
    struct mat x;       /* n x count, F32 */
    double *value;      /* ascending */
    int64_t iterations; /* products of L with a vector or a block of them */
};

/* The residual that a pair may have: |L v - lambda v| / |v| of the symmetric matrix. */
double eigen_allowed(double value, double norm);

/* Whether the build has LAPACK; the most nodes its indices allow; its nominal FLOPs for `count` pairs. */
bool dense_available(void);
int64_t dense_most(void);
int64_t dense_flops(int64_t n, int64_t count);

/* Doubles that dense_symmetric works with. */
int64_t dense_work(int64_t n);

/*
 * The pairs first + 1 .. first + count in ascending order of a symmetric n x n matrix, of which the lower
 * triangle is read and all is overwritten: values, and vectors as rows of `vectors`, count x n. `work` holds
 * dense_work(n) doubles. Returns LAPACK's info: 0 for success. Fails in a build without LAPACK.
 */
int dense_symmetric(int64_t n, double *a, int64_t first, int64_t count, double *values, double *vectors,
                    double *work);

/* The dense solver on a pencil: fills the first count values, and x. `work` holds eigen_dense_work doubles.
 * Returns what dense_symmetric does. */
int64_t eigen_dense_work(int64_t n, int64_t count);
int eigen_dense(const struct pencil *p, int64_t count, double *value, struct mat x, double *work);

/*
 * Chebyshev-filtered block iteration. Stops when all pairs are as good as they must be, or after `most`
 * products, which is no failure. False where memory is refused or the small problem fails, as e->reason says.
 */
bool eigen_chebyshev(struct eager *e, const struct pencil *p, int64_t most, struct eigenpairs *pairs);

/* ARPACK, in its regular mode on the symmetric matrix. False where it fails, as e->reason says. */
bool arpack_available(void);
bool eigen_arpack(struct eager *e, const struct pencil *p, int64_t most, struct eigenpairs *pairs);

#endif
