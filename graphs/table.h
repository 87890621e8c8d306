/*
 * Tables of numbers beside a graph: features and labels, a row for each node, edge or graph. They are
 * described in constant memory; models take some of them (graphs/inputs.h).
 *
 * A .npy file (NumPy's format, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html,
 * versions 1 to 3) has one or two dimensions of little-endian real numbers, integers or truth values, in C's
 * or Fortran's order. Any other file is text: a row in a line, numbers separated by commas, blanks or tabs.
 * An empty field between commas and "nan" are missing values; lines without a word are skipped; there are no
 * names of columns. Both may be compressed with gzip.
 */
#ifndef GTMARK_GRAPHS_TABLE_H
#define GTMARK_GRAPHS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/cancel.h"

struct number_table {
    int64_t rows, cols;
    int64_t missing;    /* values that are NaN */
    double least, most; /* of the others; least > most if there are none */
    const char *type;   /* of an element as NumPy writes it, "f4", or "text" */
    bool by_columns;    /* the file has one column after the other (Fortran's order) */
    int64_t taken;      /* values so far */
    float *to;          /* where the values go, row by row; null: nowhere */
    int32_t *whole;     /* likewise, as whole numbers; those that it cannot have as -1 */
    int64_t room;       /* of either, for so many */
};

/*
 * Reads a table. False with an error that begins with the path, and the line where there are lines, if it
 * cannot be read, is cut or has more than its header says, is of another type, has rows of different length
 * or none, a word that is no number, or one that is infinite in float32; also if reading is cancelled.
 */
bool table_read(struct number_table *t, const char *path, struct cancel cancel, char *error,
                size_t error_size);

/* The values of a table that has been read, row by row. Errors as above, also if there are fewer or more. */
bool table_values(const char *path, float *to, int64_t count, struct cancel cancel, char *error,
                  size_t error_size);

/* table_read for each kind of file. */
struct text_lines;
bool table_read_text(struct number_table *t, struct text_lines *l);
bool table_read_npy(struct number_table *t, struct text_lines *l);

/* Takes one more value into account; false if it is infinite, or would be in float32. */
bool table_value(struct number_table *t, double value);
#define TABLE_TOO_LARGE "does not fit float32, whose largest number is 3.4028235e38"

#endif
