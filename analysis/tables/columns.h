/* What the columns of a table can show of a row: every field of the schema, and summaries of its groups. */
#ifndef GTMARK_ANALYSIS_COLUMNS_H
#define GTMARK_ANALYSIS_COLUMNS_H

#include "analysis/record/row.h"
#include "analysis/tables/below.h"

enum { CELL_TEXT = 2 * MESSAGE_SIZE };

/* A cell, and the notes of its table. */
struct table_cell {
    char text[CELL_TEXT];
    struct notes *notes;
    bool brief; /* times without their intervals */
};

struct column {
    const char *title;
    void (*format)(struct table_cell *cell, const struct row *row, const struct column *c);
    const char *path;
    size_t program;            /* whose, if the name says one */
    const struct field *field; /* null: a summary */
};

/*
 * The column of this name; path null if there is none. A name is the path of a field, or a summary:
 * "forward", "step", "kernel" and "encoding" are times with their intervals, "step.flops" and the like are
 * executed FLOPs as a multiple of the analytic ones, "kernel.rate" is GFLOP/s, or GB/s if memory bounds the
 * kernel.
 */
struct column column_named(const char *name);

/* The i-th summary; null past the last. */
const char *column_summary(size_t i);

/* Sets the text of a row's cell; "-" if it was not measured. */
void column_cell(const struct column *c, const struct row *row, struct table_cell *cell);

/* The number by which rows can be sorted; false: the column has none in this row. */
bool column_number(const struct column *c, const struct row *row, double *value);

#endif
