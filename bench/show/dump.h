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

#include "analysis/record/value.h"
#include "bench/base/message.h"
#include "models/layers/model.h"

/* Whether files can be put there: an empty directory, or a path at which one can be made. False with a
 * message; leaves nothing behind. */
bool dump_can_write(const char *path, struct message *error);

/*
 * Writes the directory. `step` is the step of a model on that graph, laid out, in its initial state before
 * and afterwards. False with a message if a file could not be written.
 */
bool dump_write(const char *directory, const struct value *config, const struct csr *graph,
                const struct recording *step, struct message *error);

#endif
