/*
 * The table of a sweep, for a terminal or as Markdown: one line per row, printable as rows finish.
 *
 * Columns: the axes, then those the caller chooses from the list in table.c; by default edges, forward time
 * and rate, step time and rate, the step's planned memory and FLOPs, executed FLOPs as a multiple of those,
 * status. Times are the median and the half-width of its 95 % interval; with one sample, the median alone.
 */
#ifndef GTMARK_ANALYSIS_TABLE_H
#define GTMARK_ANALYSIS_TABLE_H

#include "analysis/record/axes.h"
#include "analysis/record/row.h"
#include "analysis/tables/cells.h"

#include <stddef.h>
#include <stdio.h>

struct table {
    FILE *out;
    enum table_style style;
    size_t axes_count;
    const struct field *axes[AXES_MAX]; /* the first columns, in order, as swept */
    const char *const
        *columns; /* the others, by field path, status last, null-terminated; null: the default */
};

void table_header(const struct table *t);
void table_row(const struct table *t, const struct row *row);

#endif
