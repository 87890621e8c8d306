/* Batches of graphs for tests. */
#ifndef GTMARK_TESTS_BATCHES_H
#define GTMARK_TESTS_BATCHES_H

#include "graphs/graph.h"

/* Graphs of the family er, mean degree 3; to be freed with batch_free, as all of these. */
struct batch batch_er(int64_t nodes, int64_t graphs);

/*
 * Five graphs of 7, 1, 4, 12 and 3 nodes whose edges are directed: some are loops, some come twice. The
 * second has a loop alone, the third no edges at all.
 */
struct batch batch_awkward(void);

/* The same batch with other labels: node i becomes node to[i], which is in the same graph. */
struct batch batch_relabelled(const struct batch *b, const int64_t *to);

#endif
