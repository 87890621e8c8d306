/*
 * A comparison as a table: a line for each row and program, with the axes in which the lines differ, a time
 * for each file, the best marked, and of two files the ratio, and the verdict with its interval.
 */
#ifndef GTMARK_ANALYSIS_COMPARE_TABLE_H
#define GTMARK_ANALYSIS_COMPARE_TABLE_H

#include "analysis/compare/comparison.h"
#include "analysis/tables/cells.h"

#include <stdio.h>

/* The axes in which rows of one file differ. */
size_t compare_axes(const struct comparison *c, const struct field *axes[AXES_MAX]);

/* Whether no other file is faster in this line, but at least one is slower. */
bool compare_is_best(const struct comparison *c, size_t line, size_t program, size_t file);

void compare_table(FILE *out, enum table_style style, const struct comparison *c);

/* "inference", "training step", "kernel", "encoding". */
const char *compare_program(size_t kind);

#endif
