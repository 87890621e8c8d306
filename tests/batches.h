/* Batches of graphs for tests. */
#ifndef GTMARK_TESTS_BATCHES_H
#define GTMARK_TESTS_BATCHES_H

#include "graphs/graph.h"

/* Graphs of the family er with mean degree 3. This and the following are numbered; free them with batch_free.
 */
struct batch batch_er(int64_t nodes, int64_t graphs);

/*
 * Five directed graphs of 7, 1, 4, 12 and 3 nodes; some edges are loops, some duplicates. The second has only
 * a loop, the third no edges.
 */
struct batch batch_awkward(void);

/* The same batch with permuted labels: node i becomes node to[i], in the same graph. */
struct batch batch_relabelled(const struct batch *b, const int64_t *to);

#endif
