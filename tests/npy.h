/* Reading of .npy files (bench/show/npy.c) for tests: a file that is not as described fails the test. */
#ifndef GTMARK_TESTS_NPY_H
#define GTMARK_TESTS_NPY_H

#include "kernels/mat.h"

/* An array of one or two dimensions; of a vector, cols is 0. Free its data. */
struct array {
    char type[3]; /* "f4", "f8", "i4", "i8" */
    int64_t rows, cols;
    void *data;
};

/* Version 1.0, C order, little-endian, and not a byte too many. */
struct array npy_read(const char *path);

/* A matrix of floating-point numbers or of 64-bit indices as a view. */
struct mat array_mat(const struct array *a);

#endif
