/*
 * A comparison as a table or as CSV: a line for each row, program and file but the baseline. Axes are columns
 * where they differ. Times are medians with half of their 95 % intervals, beside them the percentage of the
 * machine's own roofline; then the ratio with its interval, and the verdict.
 */
#ifndef GTMARK_ANALYSIS_COMPARE_TABLE_H
#define GTMARK_ANALYSIS_COMPARE_TABLE_H

#include "analysis/compare/comparison.h"
#include "analysis/tables/cells.h"

#include <stdio.h>

void compare_table(FILE *out, enum table_style style, const struct comparison *c);

/* Numbers as they were measured, times in seconds. */
void compare_csv(FILE *out, const struct comparison *c);

#endif
