/*
 * The table of a sweep, for a terminal or as Markdown: the axes, then the columns that the caller chooses,
 * then the status. What a cell has no room for is in the notes below the table.
 */
#ifndef GTMARK_ANALYSIS_TABLE_H
#define GTMARK_ANALYSIS_TABLE_H

#include "analysis/record/axes.h"
#include "analysis/record/row.h"
#include "analysis/tables/cells.h"
#include "analysis/tables/notes.h"

#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS = 40 }; /* at most, beside the axes and the status */

struct table {
    FILE *out;
    enum table_style style;
    size_t axes_count;
    const struct field *axes[AXES_MAX]; /* the first columns, in order, as swept */
    size_t count;
    const char *columns[TABLE_COLUMNS]; /* the others, by name (analysis/tables/columns.h) */
    bool all;                           /* show all of them, even empty ones and beyond the screen */
    const char *blas;                   /* a note about the times of "blas" kernels; null: none */
    struct notes notes;
    const char *noisy[2]; /* why the first and the last time marked "~" are; null: none are */
};

/* A row of the table. */
struct table_line {
    const struct row *row;
    bool kept; /* of an earlier run */
};

/* Columns of programs and encodings, null-terminated: times, rates, memory, FLOPs. */
extern const char *const table_usual[];

/* The same of what is known without running anything, with predicted times. */
extern const char *const table_planned[];

/* Adds columns, null-terminated, that the table has not yet; those that no row has are left out in the end.
 */
void table_add(struct table *t, const char *const *columns);

/* Prints the lines without empty columns, and without those for which there is no room; then the notes. */
void table_print(struct table *t, const struct table_line *lines, size_t n);

#endif
