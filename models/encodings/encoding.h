/*
 * Positional and structural encodings of the nodes of a batch: what they are, and how they were found. They
 * are computed once, on the host, and handed to models as data.
 *
 *     rwse:K[:p]     diagonals of the first K powers of the random walk (Dwivedi et al., "Graph neural
 *                    networks with learnable structural and positional representations", 2022)
 *     lap:K[:p]      eigenvectors of the K smallest eigenvalues of L = D - A (Rampasek et al., "Recipe for a
 *                    general, powerful, scalable graph transformer", 2022)
 *     lap-pyg:K[:p]  the same of I - D^-1/2 A D^-1/2, the first left out (Dwivedi et al., "Benchmarking graph
 *                    neural networks", 2020)
 *
 * p is the width of the encoder, 16 unless given: how many columns of the model's input it fills.
 */
#ifndef GTMARK_MODELS_ENCODING_H
#define GTMARK_MODELS_ENCODING_H

#include "graphs/graph.h"
#include "models/tape/eager.h"

enum encoding_kind { ENCODING_NONE, ENCODING_LAP, ENCODING_LAP_PYG, ENCODING_RWSE, ENCODING_KINDS };

/* Who solves for eigenvectors; `auto` takes LAPACK for small graphs and the iterative solver beyond. All
 * leave small dense problems to LAPACK. */
enum eigensolver { SOLVER_AUTO, SOLVER_LAPACK, SOLVER_ITERATIVE, SOLVER_ARPACK, SOLVER_KINDS };

/* Null where there is no such kind. */
const char *encoding_name(int kind);
const char *eigensolver_name(int solver);

/* The library that the solver needs and this build lacks; null where there is none. */
const char *eigensolver_missing_library(enum eigensolver solver);

enum { ENCODING_K_MAX = 4096, ENCODING_WIDTH = 16 };

struct encoding_config {
    enum encoding_kind kind;
    int64_t k;     /* steps or eigenpairs */
    int64_t width; /* of the encoder */
    enum eigensolver solver;
};

/* Reads "none", "rwse:16" or "lap:8:32", with SOLVER_AUTO; false where it is none of these. */
bool encoding_parse(const char *text, struct encoding_config *c);

/* Writes the name again: "lap:8" where the width is the standard one, else "lap:8:32". */
void encoding_format(const struct encoding_config *c, char *text, size_t size);

/*
 * An encoding of a batch with N nodes in B graphs.
 *
 * values, F32, N x K: RWSE, (P^k)_ii in column k - 1; LapPE, entry i of the eigenvector of pair k. The pairs
 * of a graph come in ascending order of eigenvalue, a vector's 2-norm is 1 over its graph, and pairs that a
 * graph does not have (K > n) are zero. eigenvalues, F32, B x K; absent in RWSE. pairs, B numbers: how many
 * pairs graph g has, at most K; null in RWSE.
 */
struct encoding {
    struct mat values, eigenvalues;
    int64_t *pairs;
    struct cost cost;        /* of what was executed */
    int64_t peak;            /* bytes held at most while it was computed, the encoding itself included */
    const char *method;      /* "half powers", "full powers"; "lapack", "iterative", "arpack" or several */
    const char *flops_label; /* what the FLOPs are: "executed ops" or "nominal" */
    /* LapPE; of several graphs the sums, and the largest residual. */
    int64_t nullity;    /* pairs that are indicators of components, known without solving */
    int64_t iterated;   /* pairs that a solver found */
    int64_t iterations; /* of the solver, in its own unit */
    double residual;    /* largest |L v - lambda v| / |v|, in double, of the vectors as they are in values */
    double excess;      /* largest residual over what is allowed: above 1 the encoding is not right */
    bool cancelled;     /* before it was done: all else is empty */
};

/* With what an encoding is computed, and when that ends before it is done. */
struct encoding_options {
    int threads;
    struct cancel cancel;
    int64_t products; /* of the Laplacian of a component, after which a solver gives up; 0: many */
};

/* How many eigenpairs a graph of so many nodes has: lap-pyg leaves out the first. */
int64_t encoding_pairs(const struct encoding_config *c, int64_t nodes);

/* Bytes of the encoding as it is stored: 4 N K, and 4 B K of eigenvalues. */
int64_t encoding_storage(const struct encoding_config *c, const struct batch *b);

/*
 * Computes the encoding of a whole batch on the host. On failure, without memory, for a graph that has no
 * such encoding or where it was cancelled: false, a line in error, and nothing to free. A solver that does
 * not converge is none: see `excess`. Halting waits for an op, a step of ARPACK, or LAPACK's work on a
 * component.
 */
bool encoding_compute(const struct encoding_config *c, const struct batch *b,
                      const struct encoding_options *with, struct encoding *out, char *error,
                      size_t error_size);

/*
 * In how many places of LapPE e has an eigenvalue above that of `other`, of the same batch, by more than
 * 1e-4: pairs that come too early, since smaller ones were left out. No residual shows this. What is found is
 * so, whatever the quality of other: the Rayleigh quotients of K orthonormal vectors, ascending, are each no
 * less than the eigenvalue of that place (Courant and Fischer; Parlett, "The symmetric eigenvalue
 * problem", 10.2).
 */
int64_t encoding_missed(const struct encoding *e, const struct encoding *other);

/* Frees the arrays and leaves an empty encoding. */
void encoding_free(struct encoding *e);

#endif
