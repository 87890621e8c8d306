/* Writes arrays as .npy files, the format of NumPy. */
#ifndef GTMARK_BENCH_NPY_H
#define GTMARK_BENCH_NPY_H

#include "bench/base/message.h"
#include "kernels/mat.h"

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
