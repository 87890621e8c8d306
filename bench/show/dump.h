/*
 * --dump DIR: one step from the initial state, as files that another framework can redo (tests/golden).
 *
 *   config.json       what defines the model and the workload; written last, so that it marks a whole dump
 *   input.NAME.npy    features, targets, graphs (rows of graph g are graphs[g] .. graphs[g + 1] - 1)
 *   graph.row_ptr.npy, graph.col.npy    the adjacency as CSR: row i lists the in-neighbours of node i
 *   param.NAME.npy    every parameter before the optimizer
 *   output.npy, loss.npy
 *   grad.NAME.npy     the gradient of every parameter
 *
 * What was computed is in the dtype that it was computed in, and each matrix has two dimensions.
 */
#ifndef GTMARK_BENCH_DUMP_H
#define GTMARK_BENCH_DUMP_H

#include "bench/cli/config.h"

/*
 * Whether the options allow --dump, or do not ask for it: one configuration, whose step runs, and a directory
 * that is empty or can be made. False with a message; leaves nothing behind.
 */
bool dump_possible(const struct options *o, struct message *error);

/*
 * Writes the directory. The recording is the step of the configuration, laid out; its state is the initial
 * one afterwards. False with a message if a file could not be written.
 */
bool dump_write(const struct options *o, const struct config *c, const struct batch *b,
                const struct recording *step, struct message *error);

#endif
