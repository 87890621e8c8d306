/*
 * Regenerates the inputs of the golden results (tests/golden/make_golden.py), which are not stored.
 *
 * A matrix is uniform on [-1, 1), exact in float and double, and keyed by its name. Edge n of the batch goes
 * from the node of its graph selected by word 2n of the stream "edges" to that selected by word 2n + 1.
 */
#ifndef GTMARK_TESTS_GOLDEN_H
#define GTMARK_TESTS_GOLDEN_H

#include "graphs/graph.h"
#include "models/tape/tape.h"

enum { GOLDEN_NODES = 137, GOLDEN_SEED = 7 };

/* A way to compute a program, and its error limits against the golden results. */
struct way {
    const struct backend *backend;
    enum dtype dtype;
    double output, gradient; /* limits */
};

/* On the oracle, in double. */
extern const struct way way_oracle;

/* Calls `test` for each way available on this machine. */
void each_way(void (*test)(const struct way *way, const void *context), const void *context);

/* The configuration of a training tape with the golden seed. */
struct tape_config way_config(const struct way *way);

/* Entry i of the matrix with this name. */
double golden_entry(const char *name, int64_t i);

/*
 * Five directed graphs with loops and duplicates: one has a single node, one has no edges. Free it with
 * batch_free.
 */
struct batch golden_batch(void);

/* tests/golden/data/DIRECTORY/KINDNAME.npy; free its data. */
struct mat golden_read(const char *directory, const char *kind, const char *name);

#endif
