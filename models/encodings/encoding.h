/*
 * Positional and structural encodings of the nodes of a batch. They are computed once, on the host, and
 * passed to models as data.
 *
 *     rwse:K[:p]     diagonals of the first K powers of the random walk (Dwivedi et al., "Graph neural
 *                    networks with learnable structural and positional representations", 2022)
 *     lap:K[:p]      eigenvectors of the K smallest eigenvalues of L = D - A (Rampasek et al., "Recipe for a
 *                    general, powerful, scalable graph transformer", 2022)
 *     lap-pyg:K[:p]  the same for I - D^-1/2 A D^-1/2, without the first (Dwivedi et al., "Benchmarking graph
 *                    neural networks", 2020)
 *     heat:K[:p]     diagonal of the heat kernel of D - A at the times 1 .. K (models/encodings/heat.h)
 *     eslap:K        the eigenvectors of lap:K, which weight the messages of edges instead (Wang et al.,
 *                    "Equivariant and stable positional encoding for more powerful graph neural networks",
 *                    2022)
 *
 *     expander       edges beside those of the graph, for exphormer attention (models/encodings/expander.h)
 *
 *     distances      of all pairs, and the edges of a path, for the bias of dense attention
 *                    (models/encodings/distances.h): beside or without one of these
 *
 * p is the width of the encoder, i.e. the number of columns of the model's input that it fills; default 16;
 * of eslap 0.
 */
#ifndef GTMARK_MODELS_ENCODING_H
#define GTMARK_MODELS_ENCODING_H

#include "graphs/graph.h"
#include "models/tape/eager.h"

enum encoding_kind {
    ENCODING_NONE,
    ENCODING_LAP,
    ENCODING_LAP_PYG,
    ENCODING_RWSE,
    ENCODING_HEAT,
    ENCODING_ESLAP,
    ENCODING_KINDS
};

/*
 * `auto` chooses LAPACK for small graphs and the iterative solver for larger ones. All solvers use LAPACK for
 * small dense problems.
 */
enum eigensolver { SOLVER_AUTO, SOLVER_LAPACK, SOLVER_ITERATIVE, SOLVER_ARPACK, SOLVER_KINDS };

/* Null if there is no such kind. */
const char *encoding_name(int kind);
const char *eigensolver_name(int solver);

/* The library that the solver needs and this build does not have, or null. */
const char *eigensolver_missing_library(enum eigensolver solver);

enum { ENCODING_K_MAX = 4096, ENCODING_WIDTH = 16 };

struct encoding_config {
    enum encoding_kind kind;
    int64_t k;     /* steps, eigenpairs or times */
    int64_t width; /* of the encoder */
    enum eigensolver solver;
    int64_t buckets;           /* of distances, 0 to BUCKETS_MAX; 0: none are computed */
    int64_t hops;              /* with buckets: edges of the path of a pair, at most HOPS_MAX; 0: no paths */
    int64_t expander, globals; /* permutations, 0 to EXPANDER_MAX; 0: none is drawn; nodes beside it */
    uint64_t seed;             /* of expanders */
};

/* Whether anything is computed. */
bool encoding_any(const struct encoding_config *c);

/* Parses "none", "spd:20" or, with hops, "spd:20:5", and changes nothing else. False for anything else. */
enum { BUCKETS_MAX = 1024, HOPS_MAX = 64, BIAS_TEXT = 32 };
bool bias_parse(const char *text, struct encoding_config *c);

/* The inverse of bias_parse. False for "none". */
bool bias_format(const struct encoding_config *c, char text[BIAS_TEXT]);

/* Parses "none", "3" or "3:1", and sets c->expander and c->globals. False for anything else. */
enum { EXPANDER_MAX = 64 };
bool expander_parse(const char *text, struct encoding_config *c);
bool expander_format(const struct encoding_config *c, char text[BIAS_TEXT]);

/*
 * What is drawn of a graph of n nodes: up to so many nodes all edges but loops. The graph with these edges
 * and those of global nodes, without arrays (models/encodings/expander.h); its edges, which may be more than
 * a CSR can have, also of `graphs` graphs of the same size.
 */
enum { EXPANDER_COMPLETE = 10 };
int64_t expander_drawn(int64_t r, int64_t n);
struct batch expander_shape(const struct encoding_config *c, const struct batch *b);
int64_t expander_edges(const struct encoding_config *c, int64_t nodes, int64_t edges, int64_t graphs);

/* Whether it consists of eigenvectors, which a solver finds; whether LAPACK may compute it. */
bool encoding_is_spectral(const struct encoding_config *c);
bool encoding_calls_lapack(const struct encoding_config *c);

/* Parses "none", "rwse:16" or "lap:8:32" and sets SOLVER_AUTO. Returns false for anything else. */
bool encoding_parse(const char *text, struct encoding_config *c);

/* The inverse of encoding_parse: "lap:8" for the default width, else "lap:8:32". */
void encoding_format(const struct encoding_config *c, char *text, size_t size);

/*
 * An encoding of a batch with N nodes in B graphs.
 *
 * values, F32, N x K: for RWSE, (P^k)_ii in column k - 1; for the heat kernel, time k in column k - 1; for
 * LapPE, entry i of the eigenvector of pair k.
 * The pairs of a graph are in ascending order of eigenvalue, each vector has 2-norm 1 over its graph, and
 * pairs that a graph does not have (K > n) are zero. eigenvalues, F32, B x K; absent for RWSE. pairs, B
 * integers: the number of pairs of each graph, at most K; null for RWSE.
 */
struct encoding {
    struct mat values, eigenvalues;
    int64_t *pairs;
    struct batch expanded; /* with the edges of expanders, which are numbered; no other inputs or offsets */
    struct mat factor;     /* edges of it x 1, I64: which of the rows of edges (layers.h: struct expanded) */
    int64_t poor;          /* expanders whose second eigenvalue stayed below the bound */
    struct mat distances;  /* pairs of nodes x 1, I64: as op hops has them; absent without buckets */
    struct mat paths; /* pairs of nodes x hops, I32: the first edges of each path, then -1; absent likewise */
    struct cost cost; /* of the ops executed */
    int64_t peak;     /* peak bytes allocated during the computation, including the encoding itself */
    const char *method; /* "half powers", "full powers"; "lapack", "iterative", "arpack" or a combination */
    const char *flops_label; /* origin of the FLOPs: "executed ops" or "nominal" */
    /* LapPE only; over several graphs, sums and the largest residual. */
    int64_t nullity;    /* pairs that are indicators of components, known without a solver */
    int64_t iterated;   /* pairs computed by a solver */
    int64_t iterations; /* of the solver, in its own unit */
    double residual;    /* largest |L v - lambda v| / |v|, in double, of the vectors as stored in values */
    double excess;      /* largest ratio of a residual to its limit; above 1 the solver has not converged */
    bool cancelled;     /* cancelled before it was complete; everything else is empty */
};

/* How to compute an encoding, and when to stop. */
struct encoding_options {
    int threads;
    struct cancel cancel;
    int64_t products; /* limit on products with the Laplacian of a component; 0: a large default */
    int64_t draws;    /* of an expander at most; 0: 100 */
};

/* The number of eigenpairs of a graph with this many nodes; lap-pyg omits the first. */
int64_t encoding_pairs(const struct encoding_config *c, int64_t nodes);

/* Whether the batch has a Laplacian: only if it is symmetric; a line in error if not. */
bool laplacian_exists(const struct batch *b, char *error, size_t error_size);

/* Why an encoding has no eigenpairs, or null if it has some. */
const char *encoding_without_pairs(const struct encoding_config *c);

/* The edges of the batch as an operand. */
struct edges encoding_edges(const struct batch *b);

/* Bytes of the stored encoding: 4 N K, and 4 B K for eigenvalues; of each pair 8, and 4 for each hop; with an
 * expander the CSR of all edges, and 12 for each. */
int64_t encoding_storage(const struct encoding_config *c, const struct batch *b);

/*
 * The number of eigenvalues of e that exceed those of `other`, for the same batch and at the same index, by
 * more than a relative 1e-4: smaller eigenvalues were missed, which residuals do not show. This is conclusive
 * whatever the quality of `other`: the Rayleigh quotients of K orthonormal vectors, in ascending order, are
 * each no less than the eigenvalue of the same index (Courant and Fischer; Parlett, "The symmetric eigenvalue
 * problem", 10.2).
 */
int64_t encoding_missed(const struct encoding *e, const struct encoding *other);

/* Frees the arrays and resets the encoding to empty. */
void encoding_free(struct encoding *e);

#endif
