/*
 * --dump DIR: one step from the initial state, as files from which another framework can repeat it
 * (tests/golden).
 *
 *   config.json       what defines the model and the workload; written last, so that it marks a complete dump
 *   input.NAME.npy    features, targets, graphs (rows of graph g are graphs[g] .. graphs[g + 1] - 1)
 *   graph.row_ptr.npy, graph.col.npy    the adjacency as CSR: row i lists the in-neighbours of node i
 *   param.NAME.npy    every parameter before the optimizer
 *   output.npy, loss.npy
 *   grad.NAME.npy     the gradient of every parameter
 *
 * Results have the dtype in which they were computed, but f32 for bf16, and each matrix has two dimensions.
 */
#ifndef GTMARK_BENCH_DUMP_H
#define GTMARK_BENCH_DUMP_H

#include "analysis/record/value.h"
#include "bench/base/message.h"
#include "models/layers/model.h"

/* Whether the path is an empty directory, or a directory can be created there. False with a message. Leaves
 * nothing behind. */
bool dump_can_write(const char *path, struct message *error);

/*
 * Writes the directory. `step` is a training step on that graph, laid out and in its initial state, in which
 * it is left. False with a message if a file cannot be written.
 */
bool dump_write(const char *directory, const struct value *config, const struct csr *graph,
                const struct recording *step, struct message *error);

#endif
