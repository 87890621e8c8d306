/* The block of the Chebyshev-filtered iteration, and the best pairs in its span (eigen_block.c). */
#ifndef GTMARK_MODELS_EIGEN_BLOCK_H
#define GTMARK_MODELS_EIGEN_BLOCK_H

#include "models/encodings/eigen.h"

struct iteration {
    struct eager *e;
    const struct pencil *p;
    int64_t wanted, wide;
    struct mat x, y, z;              /* n x wide: the block, and two to work with */
    struct mat gram, energy, square; /* wide x wide, F64: X' M X, X' L X, R' M R of the residuals */
    struct mat sums;                 /* 1 x wide, F64: 1' M X */
    struct mat transform, shift;     /* wide x wide and 1 x wide: the block becomes x transform' + shift */
    struct mat ones, zeros;          /* 1 x wide */
    double *value, *before;          /* Ritz values, and those of the step before */
    double *residual;                /* of each */
    double *work;                    /* of the small problem */
    int64_t work_size, count;        /* products so far */
    bool random;                     /* whether the block began so */
    double loose;                    /* residual over value that will do; 0 where what is asked for counts */
    double total, skew;              /* mass; how far the block is from orthonormal */
};

/* Room for a block of at least `wanted` columns. False where memory is refused; either way to be given. */
bool block_alloc(struct iteration *s, struct eager *e, const struct pencil *p, int64_t wanted);
void block_free(struct iteration *s);

/* Draws the columns from `first` on at random. */
void block_randomise(struct iteration *s, int64_t first);

/* y (+)= alpha T x + beta x. */
void block_product(struct iteration *s, struct mat y, struct mat x, double alpha, double beta);
void block_swap(struct mat *a, struct mat *b);

/*
 * Turns the block into the best pairs in its span, ascending, with their values and residuals. False where
 * something failed, as s->e says.
 */
bool block_ritz(struct iteration *s);

#endif
