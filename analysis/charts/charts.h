/* All charts of a record. */
#ifndef GTMARK_ANALYSIS_CHARTS_H
#define GTMARK_ANALYSIS_CHARTS_H

#include "analysis/charts/chart.h"
#include "analysis/record/record.h"

/*
 * Draws PREFIX_roofline for a benchmark of ops, and the charts of chart_draw over `axis` (null: the first
 * numeric axis that varies); for ops only if such an axis varies. Prints one line for each on `log`. Returns
 * false if one failed, with its line in message[MESSAGE_SIZE] instead.
 */
bool charts_draw(const struct record *record, const struct field *axis, const char *prefix, FILE *log,
                 char *message);

#endif
