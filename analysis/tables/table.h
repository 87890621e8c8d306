/*
 * The table of a sweep, for a terminal or as Markdown: the axes, then the columns that the caller chooses,
 * then the check: "ok" with the largest error, "wrong", "unchecked" or another status. What a cell has no
 * room for is said below the table.
 */
#ifndef GTMARK_ANALYSIS_TABLE_H
#define GTMARK_ANALYSIS_TABLE_H

#include "analysis/tables/below.h"
#include "analysis/tables/grid.h"

enum { TABLE_COLUMNS = 40 }; /* at most, beside the axes and the check */

enum { KERNEL_TABLE_MOST = 20 }; /* rows of each part of a table of kernels */

struct table {
    FILE *out;
    enum table_style style;
    size_t axes_count;
    const struct field *axes[AXES_MAX]; /* the first columns, in order, as swept */
    size_t count;
    const char *columns[TABLE_COLUMNS]; /* the others, by name (analysis/tables/columns.h) */
    bool all;                           /* show all of them, even empty ones and beyond the screen */
    const char *blas;                   /* a note about kernels of the BLAS; null: none */
    int width;                          /* of the screen; 0: that of the stream */
    struct below below;
};

/* A row of the table. */
struct table_line {
    const struct row *row;
    bool kept; /* of an earlier run */
};

/*
 * Adds the columns if none were asked for: times, then of the training step, if it was timed, or else of
 * inference the rate, the share of the roofline, the memory and so on. `timed`: what rows can have, by
 * program_name; planned: nothing was run. Columns that no row has are left out when the table is printed.
 */
void table_choose(struct table *t, const bool timed[TIMED], bool planned);

/* The fields of --format csv: of the columns that were asked for, else the main ones. */
struct csv_fields {
    size_t count;
    const struct field *list[2 * AXES_MAX + 4 * TABLE_COLUMNS];
};
struct csv_fields table_csv(const struct table *t, const bool timed[TIMED]);

/* Adds columns, null-terminated, that the table has not yet; those that no row has are left out in the end.
 */
void table_add(struct table *t, const char *const *columns);

/* Whether the axis of this path is a column. */
bool table_has_axis(const struct table *t, const char *path);

/* The columns of the screen. */
int table_width(const struct table *t);

/* Prints the lines without empty columns and those for which there is no room; where even the others do not
 * fit, times are without their intervals. */
void table_print(struct table *t, const struct table_line *lines, size_t n);

/*
 * Of many rows of kernels those that are worth a look: rows that are not ok, and of the default kernels, the
 * first of each op, those with the least share of their roofline; then the kernels that are slower than the
 * reference and the default ones that are slower than another of their op, with 95 % intervals apart. All
 * rows if they are few, or none has a share.
 */
void kernel_table_print(struct table *t, const struct table_line *lines, size_t n);

/*
 * Prints "node scaling: gps, 6 layers, hidden size 256, dense attention + gin, er degree 5; 2 threads,
 * avx512": the benchmark, the model, other axes that are not at their default, and where it ran. Nothing
 * without rows.
 */
void title_print(const struct table *t, const struct value *head, const struct table_line *lines, size_t n);

/* Prints what is to be said of the lines printed so far. */
void table_below(struct table *t);

#endif
