/*
 * What golden results were computed from (tests/golden/make_golden.py), made again: inputs are not stored.
 *
 * A matrix is uniform on [-1, 1) and keyed by its name, which is exact in float and double. Edge n of the
 * batch goes from the node of its graph that word 2n of the stream "edges" chooses to that of word 2n + 1.
 */
#ifndef GTMARK_TESTS_GOLDEN_H
#define GTMARK_TESTS_GOLDEN_H

#include "graphs/graph.h"
#include "models/tape/tape.h"

enum { GOLDEN_NODES = 137, GOLDEN_SEED = 7 };

/* How a program is computed, and how far it may be from the golden results. */
struct way {
    const struct backend *backend;
    enum dtype dtype;
    double output, gradient; /* limits */
};

/* On the oracle, in double. */
extern const struct way way_oracle;

/* Calls back for each way that this machine has. */
void each_way(void (*test)(const struct way *way, const void *context), const void *context);

/* A tape that trains, under the seed of the recipe. */
struct tape_config way_config(const struct way *way);

/* Entry i of the matrix of that name. */
double golden_entry(const char *name, int64_t i);

/* Five graphs, directed, with loops and duplicates: one is a node, one has no edges. Free it with batch_free.
 */
struct batch golden_batch(void);

/* tests/golden/data/DIRECTORY/KINDNAME.npy; free its data. */
struct mat golden_read(const char *directory, const char *kind, const char *name);

#endif
