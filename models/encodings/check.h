/*
 * Checks an encoding by other means than it was computed with. Residuals of eigenpairs are part of computing
 * them (encoding.h: excess).
 */
#ifndef GTMARK_MODELS_ENCODING_CHECK_H
#define GTMARK_MODELS_ENCODING_CHECK_H

#include "models/encodings/encoding.h"

struct encoding_check_options {
    uint64_t seed;
    int threads;
    struct cancel cancel;
    double flops; /* most that the heat kernel, or looking for missed pairs, may take */
};

struct encoding_check {
    char how[128];       /* what was checked, and found to be right */
    char wrong[200];     /* the first fault: what was measured and what is allowed; empty if none was found */
    char unchecked[128]; /* what could not be checked, and why; empty if nothing */
};

/*
 * RWSE: the walks of 64 seeded nodes are computed again by full powers in double, along the edges' other
 * direction. An entry is right within a relative 1e-5.
 *
 * Heat kernel: that of up to 64 seeded nodes, as many as the FLOPs allow, is computed again by another
 * series. An entry is right within 3e-7 and a relative 1e-5.
 *
 * LapPE: the vectors must be orthonormal, and no vector that is orthogonal to all of them may have a smaller
 * Rayleigh quotient than the largest eigenvalue found: then a pair was left out, by Courant and Fischer. A
 * random block of vectors looks for one (deflated.h).
 *
 * Distances, those from up to 16 seeded nodes: they must be 0 from a node to itself, none more than a step
 * beyond that of a node with an edge to it, and every other one have such a node that is a step nearer.
 *
 * Expanders: each node must have the edges of the graph, as many of its expander, and those of global nodes.
 */
struct encoding_check encoding_check(const struct encoding_config *c, const struct batch *b,
                                     const struct encoding *e, const struct encoding_check_options *o);

/* The parts of it. */
void rwse_check(struct encoding_check *to, const struct batch *b, const struct encoding *e,
                const struct encoding_check_options *o);
void heat_check(struct encoding_check *to, const struct batch *b, const struct encoding *e,
                const struct encoding_check_options *o);
void lappe_check(struct encoding_check *to, const struct encoding_config *c, const struct batch *b,
                 const struct encoding *e, const struct encoding_check_options *o);
void expander_check(struct encoding_check *to, const struct encoding_config *c, const struct batch *b,
                    const struct encoding *e);
void distances_check(struct encoding_check *to, const struct encoding_config *c, const struct batch *b,
                     const struct encoding *e, const struct encoding_check_options *o);

#endif
