/* Reading .npy files (bench/show/dump.c) in tests: a file with another format fails the test. */
#ifndef GTMARK_TESTS_NPY_H
#define GTMARK_TESTS_NPY_H

#include "kernels/mat.h"

/* A one- or two-dimensional array; cols is 0 for a vector. Free its data. */
struct array {
    char type[3]; /* "f4", "f8", "i4", "i8" */
    int64_t rows, cols;
    void *data;
};

/* Version 1.0, C order, little-endian, without trailing bytes. */
struct array npy_read(const char *path);

/* A view of a matrix of floating-point numbers or 64-bit indices. */
struct mat array_mat(const struct array *a);

#endif
