/* Table cells, for a terminal or as Markdown. */
#ifndef GTMARK_ANALYSIS_CELLS_H
#define GTMARK_ANALYSIS_CELLS_H

#include "analysis/record/row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum table_style { TABLE_TERMINAL, TABLE_MARKDOWN };

/* Writes a cell; on a terminal right-aligned in `width` columns, or wider if the text is, and bold if it
 * begins with a star. */
void cell_put(FILE *out, enum table_style style, const char *text, int width, bool first);

/* Writes the last cell of a line and ends it; on a terminal left-aligned, `at` columns from the left, and
 * wrapped, with `phrases` by wrap_phrases. */
void cell_put_last(FILE *out, enum table_style style, const char *text, int at, bool first, bool phrases);

/* The time of a program or of the encoding: its median and, unless `brief`, its 95 % interval, if it has one.
 * Leaves `cell` unchanged if it was not measured. */
void cell_time(char *cell, size_t size, const struct row *row, size_t kind, bool brief);

#endif
