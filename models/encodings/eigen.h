/*
 * The interface shared by the eigensolvers for Laplacian encodings: the smallest eigenpairs of L x = lambda M
 * x on a connected graph, without the pair of the constant vector.
 *
 * L = D - W is the Laplacian of a graph with symmetric weights, M a diagonal of positive masses. With unit
 * masses the matrix is D - A; with the degrees as masses, x = D^-1/2 v gives the pairs (lambda, v) of I -
 * D^-1/2 A D^-1/2. Vectors are orthonormal in the inner product of M, and therefore orthogonal to the
 * constant.
 */
#ifndef GTMARK_MODELS_EIGEN_H
#define GTMARK_MODELS_EIGEN_H

#include "models/tape/eager.h"

struct pencil {
    int64_t n;
    struct edges adj;  /* symmetric, no loops; only row and col are set */
    struct mat weight; /* E x 1; absent: ones */
    struct mat mass;   /* n x 1 */
    struct mat q;      /* n x 1: 1 / mass */
    double bound;      /* upper bound on the largest eigenvalue */
    double norm;       /* 1-norm of M^-1/2 L M^-1/2, the scale of residuals */
};

/* Results of a solver. An eigenvector of the symmetric matrix M^-1/2 L M^-1/2 is v = M^1/2 x. */
struct eigenpairs {
    int64_t count;
    struct mat x;       /* n x count, F32 */
    double *value;      /* ascending */
    int64_t iterations; /* products of L with a vector or a block of vectors */
    double excess;      /* above 1: a residual is too large, for itself or for its eigenvalue within 1e-4 */
};

/* The largest acceptable residual of a pair: |L v - lambda v| / |v| of the symmetric matrix. */
double eigen_allowed(double value, double norm);

/*
 * Whether the build has LAPACK; the largest order its integer type allows; its nominal FLOPs for `count`
 * pairs.
 */
bool dense_available(void);
int64_t dense_most(void);
int64_t dense_flops(int64_t n, int64_t count);

/* Size of dense_symmetric's workspace, in doubles. */
int64_t dense_work(int64_t n);

/*
 * Pairs first + 1 .. first + count, in ascending order, of a symmetric n x n matrix. Reads the lower triangle
 * and overwrites the whole matrix. Writes the eigenvectors as rows of `vectors`, count x n. `work` has
 * dense_work(n) doubles. Returns LAPACK's info: 0 for success. Fails in a build without LAPACK.
 */
int dense_symmetric(int64_t n, double *a, int64_t first, int64_t count, double *values, double *vectors,
                    double *work);

/*
 * The dense solver for a pencil: writes `count` values, and x. `work` has eigen_dense_work doubles. Returns
 * what dense_symmetric returns.
 */
int64_t eigen_dense_work(int64_t n, int64_t count);
int eigen_dense(const struct pencil *p, int64_t count, double *value, struct mat x, double *work);

/*
 * Chebyshev-filtered block iteration. Stops when all pairs are accurate enough or after `most` products; the
 * latter is not a failure. Returns false when out of memory or when the projected problem fails; the reason
 * is in e->reason.
 */
bool eigen_chebyshev(struct eager *e, const struct pencil *p, int64_t most, struct eigenpairs *pairs);

/* ARPACK in regular mode on the symmetric matrix. Returns false on failure; the reason is in e->reason. */
bool arpack_available(void);
bool eigen_arpack(struct eager *e, const struct pencil *p, int64_t most, struct eigenpairs *pairs);

#endif
