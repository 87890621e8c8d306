/* The block of the Chebyshev-filtered iteration and its Rayleigh-Ritz step. */
#ifndef GTMARK_MODELS_EIGEN_BLOCK_H
#define GTMARK_MODELS_EIGEN_BLOCK_H

#include "models/encodings/eigen.h"

struct iteration {
    struct eager *e;
    const struct pencil *p;
    int64_t wanted, wide;
    struct mat x, y, z;              /* n x wide: the block, and two work blocks */
    struct mat gram, energy, square; /* wide x wide, F64: X' M X, X' L X, R' M R of the residuals */
    struct mat sums;                 /* 1 x wide, F64: 1' M X */
    struct mat transform, shift;     /* wide x wide and 1 x wide: the new block is x transform' + shift */
    struct mat ones, zeros;          /* 1 x wide */
    double *value;                   /* Ritz values */
    double *residual;                /* of each column */
    double *work;                    /* for the projected problem */
    int64_t work_size, count;        /* products so far */
    int64_t renewed;                 /* columns that depended on others, and are random since the last step */
    bool random;                     /* whether the block was initialised at random */
    double loose;                    /* sufficient residual relative to the value; 0: eigen_allowed decides */
    double total, skew;              /* total mass; deviation of the block from orthonormality */
};

/*
 * Allocates a block of at least `wanted` columns. False when out of memory; call block_free in either case.
 */
bool block_alloc(struct iteration *s, struct eager *e, const struct pencil *p, int64_t wanted);
void block_free(struct iteration *s);

/* Fills the columns from `first` on with random numbers. */
void block_randomise(struct iteration *s, int64_t first);

/* z = T_m(alpha T + beta) x, a Chebyshev polynomial of the Laplacian T, m = degree; overwrites y. */
void block_polynomial(struct iteration *s, int64_t degree, double alpha, double beta);
void block_swap(struct mat *a, struct mat *b);

/*
 * Replaces the block by the best pairs in its span, ascending, with their values and residuals. Returns false
 * on failure, with the reason in s->e.
 */
bool block_ritz(struct iteration *s);

#endif
