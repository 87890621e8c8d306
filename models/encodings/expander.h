/*
 * The edges of attention+exphormer beyond those of the graph: of a random regular graph, and of global nodes.
 *
 * An expander of a graph is R random permutations p of its nodes, each with the edges from i to p(i) and from
 * p(i) to i: loops and repetitions are kept, so that each node has 2 R. It is drawn again, up to 100 times,
 * while the second smallest eigenvalue of its D - A is below 2 R - 2 sqrt(2 R - 1) - 0.1 (Friedman's bound:
 * nearly all are above), and then the best is kept. A graph of up to 10 nodes has all edges but loops
 * instead.
 *
 * Global node v of graph g is row N + v B + g, joined to all nodes of its graph in both directions.
 */
#ifndef GTMARK_MODELS_EXPANDER_H
#define GTMARK_MODELS_EXPANDER_H

#include "models/encodings/encoding.h"

/*
 * Adds the graph with these edges to the encoding, as `expanded`, with `factor` and `poor`. False with a
 * message, and the encoding as it was.
 */
bool expander_compute(const struct encoding_config *c, const struct batch *b,
                      const struct encoding_options *with, struct encoding *to, char *error,
                      size_t error_size);

#endif
