/*
 * Arrays in NumPy's format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions
 * 1 to 3): little-endian real numbers, integers or truth values of up to two dimensions, in C's or Fortran's
 * order.
 */
#ifndef GTMARK_GRAPHS_NPY_H
#define GTMARK_GRAPHS_NPY_H

#include "graphs/lines.h"

struct npy_element {
    const char *name; /* as NumPy writes it, "f4" */
    int64_t size;
    double (*value)(const unsigned char *bytes);
};

struct npy {
    int64_t rows, cols; /* above 0, below 10^9; without dimensions 1 x 1, with one n x 1 */
    bool by_columns;    /* one column after the other (Fortran's order) */
    const struct npy_element *element;
};

/* Reads up to the elements. False with an error. */
bool npy_open(struct text_lines *l, struct npy *a);

/* Reads an array that is one string of at most 7 bytes, as scipy.sparse.save_npz writes. False with an error.
 */
bool npy_read_word(struct text_lines *l, char word[8]);

#endif
