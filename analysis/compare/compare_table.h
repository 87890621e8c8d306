/*
 * A comparison as a table or as CSV: a line for each row, program and file except the baseline. Columns are
 * the axes that differ, the times (medians with half-widths of their 95 % intervals) with their percentages
 * of the machine's roofline, the ratio with its interval, and the verdict.
 */
#ifndef GTMARK_ANALYSIS_COMPARE_TABLE_H
#define GTMARK_ANALYSIS_COMPARE_TABLE_H

#include "analysis/compare/comparison.h"
#include "analysis/tables/cells.h"

#include <stdio.h>

void compare_table(FILE *out, enum table_style style, const struct comparison *c);

/* Unrounded numbers, times in seconds. */
void compare_csv(FILE *out, const struct comparison *c);

#endif
