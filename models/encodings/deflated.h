/*
 * Looks for an eigenvector of a connected graph's Laplacian that is orthogonal to known vectors and has a
 * small eigenvalue: a check of eigensolvers, in double, which shares no code with them.
 */
#ifndef GTMARK_MODELS_DEFLATED_H
#define GTMARK_MODELS_DEFLATED_H

#include <stdbool.h>
#include <stdint.h>

#include "graphs/csr.h"
#include "kernels/cancel.h"

/* A component of a symmetric graph: D - A, or I - s A s with s = D^-1/2, without loops. */
struct component {
    const struct csr *adj; /* of all nodes */
    int64_t nodes;
    const int32_t *node;  /* its nodes */
    const int32_t *local; /* of every node of adj, its number in its component */
    const double *scale;  /* of every node, s; null: D - A */
};

/* Orthonormal vectors: row i has the entries of `count` vectors at node i of adj. */
struct known {
    const float *rows;
    int64_t count, ld;
};

struct deflated {
    struct component part;
    struct known known;
    int64_t outside; /* dimensions outside of the known vectors and the null vector, at least 1 */
    double limit;    /* above 0: what smaller eigenvalues are looked for */
    uint64_t key;    /* of the random block */
    int threads;
    struct cancel cancel;
    double flops; /* most that it may take; afterwards what is left, below 0 if that was not enough */
};

enum deflated_result { DEFLATED_NONE, DEFLATED_SMALLER, DEFLATED_UNKNOWN };

/*
 * SMALLER: there is a vector outside of the known ones whose Rayleigh quotient, which is set, is below the
 * limit. NONE: there is none, but for an improbable block. UNKNOWN: flops, memory or time did not suffice.
 */
enum deflated_result deflated_search(struct deflated *d, double *quotient);

#endif
