/* Table cells, for a terminal or as Markdown. */
#ifndef GTMARK_ANALYSIS_CELLS_H
#define GTMARK_ANALYSIS_CELLS_H

#include "analysis/record/row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum table_style { TABLE_TERMINAL, TABLE_MARKDOWN };

/* Writes a cell; on a terminal right-aligned in `width` columns, or wider if the text is. */
void cell_put(FILE *out, enum table_style style, const char *text, int width, bool first);

/*
 * A program's time, "12.30 ± 0.04 ms": median and half-width of its 95 % interval; with one sample, the
 * median alone. Returns false and leaves `cell` unchanged if it was not measured.
 */
bool cell_time(char *cell, size_t size, const struct row *row, const char *program);

#endif
