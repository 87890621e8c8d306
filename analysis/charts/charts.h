/* All charts of a record. */
#ifndef GTMARK_ANALYSIS_CHARTS_H
#define GTMARK_ANALYSIS_CHARTS_H

#include "analysis/charts/chart.h"
#include "analysis/record/record.h"

/*
 * Draws PREFIX_roofline of a benchmark of ops, and what chart_draw draws, over `axis` (null: the first axis
 * with numbers that varies); of ops only where such an axis varies. Prints on `log` a line for each. False
 * if one failed, then with its line in message[MESSAGE_SIZE] instead.
 */
bool charts_draw(const struct record *record, const struct field *axis, const char *prefix, FILE *log,
                 char *message);

#endif
