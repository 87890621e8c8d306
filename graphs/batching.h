/*
 * Ways of batching graphs of different sizes, and what each computes: rows, for everything that works node by
 * node, and pairs of nodes, for dense attention.
 *
 *     ragged      graph after graph, nothing is padded: the useful rows and pairs
 *     padded      every graph has as many rows as the largest
 *     bucketed    graphs of 2^(k-1) + 1 to 2^k nodes form a bucket, and have as many rows as its largest
 *     packed      graphs fill sequences as long as the largest of them, first-fit in their order (the first
 *                 sequence with room); attention computes all pairs of a sequence and masks those of
 * different graphs
 */
#ifndef GTMARK_GRAPHS_BATCHING_H
#define GTMARK_GRAPHS_BATCHING_H

#include <stddef.h>

#include "graphs/batch.h"

/* Null if there is no such way. */
const char *batching_name(int way);

/* -1: beyond 63 bits. */
struct batching_work {
    int64_t rows, pairs;
};

struct batching_work batching_work(const struct batch *b, enum batching way);

/* The number of nodes of graph g, without padding. */
int64_t batch_size(const struct batch *b, int64_t g);

/*
 * Gives every graph as many rows as the largest has: nodes without edges after its own. b may be a shape.
 * False with a line in error, and b unchanged, without memory or beyond CSR_MAX_NODES.
 */
bool batch_pad(struct batch *b, char *error, size_t error_size);

#endif
