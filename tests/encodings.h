/* Encodings of batches for tests. */
#ifndef GTMARK_TESTS_ENCODINGS_H
#define GTMARK_TESTS_ENCODINGS_H

#include "models/encodings/eigen.h"
#include "models/encodings/encoding.h"

/*
 * An encoding of the right shape with random numbers instead of walks or eigenvectors, if it has any, and its
 * distances, paths and expanders. Pairs that a graph does not have are NaN, so that reading them is detected.
 * Free it with encoding_free.
 */
struct encoding encoding_sample(const struct encoding_config *c, const struct batch *b);

/* The same encoding with permuted labels: node i becomes node to[i]. */
struct encoding encoding_relabelled(const struct encoding *e, const int64_t *to);

/*
 * A copy of an encoding of K + 1 pairs that has K: without pair `skipped` in graphs that have more than K, as
 * if a solver had left it out. Free it with encoding_free.
 */
struct encoding encoding_without(const struct encoding *e, const struct batch *b, int64_t skipped);

/* Whether this build has the solver. */
bool eigensolver_there(enum eigensolver s);

/* Skips the test in a build without Laplacian encodings. */
void needs_lapack(void);

/*
 * The Laplacian encoding of a batch; on failure the process exits with a message. Free it with encoding_free.
 */
struct encoding lappe_of(const struct batch *b, enum encoding_kind kind, int64_t k, enum eigensolver s,
                         int threads);

double eigenvalue_at(const struct encoding *e, int64_t graph, int64_t k);

#endif
