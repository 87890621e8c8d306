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
#include "kernels/mat.h"
#include "models/layers/model.h"

/* Whether the path is an empty directory, or one can be created; leaves nothing. False with a message. */
bool dump_can_write(const char *path, struct message *error);

/* Writes the directory. `step` is a training step on that graph, laid out and in its initial state, in which
 * it is left. False with a message if a file cannot be written. */
bool dump_write(const char *directory, const struct value *config, const struct csr *graph,
                const struct recording *step, struct message *error);

/* --- writes arrays as .npy files, the format of NumPy */

/* The content of a file: rows x cols elements in C order; row i begins at data + i * ld elements. */
struct npy {
    char kind;          /* NumPy's, of an element: 'f' or 'i' */
    size_t size;        /* bytes of an element */
    int64_t rows, cols; /* cols 0: a vector of `rows` elements */
    int64_t ld;
    const void *data;
};

struct npy npy_matrix(struct mat m);
struct npy npy_indices32(const int32_t *data, int64_t count);
struct npy npy_indices64(const int64_t *data, int64_t count);

/* Writes or replaces the file. False with a message that names it. */
bool npy_write(const char *path, const struct npy *a, struct message *error);

#endif
