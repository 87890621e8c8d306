/* All charts of a record. */
#ifndef GTMARK_ANALYSIS_CHARTS_H
#define GTMARK_ANALYSIS_CHARTS_H

#include "analysis/charts/chart.h"
#include "analysis/record/record.h"

/*
 * Draws the charts of kernel_chart_draw for a benchmark of ops, and those of chart_draw over `axis` (null:
 * the first numeric axis that varies); for ops the latter only if such an axis varies, or if there are few.
 * Prints a line for each kind on `log`. Returns false if one failed, with its line in message[MESSAGE_SIZE]
 * instead.
 */
bool charts_draw(const struct record *record, const struct field *axis, const char *prefix, FILE *log,
                 char *message);

/* Draws only the profile, which charts_draw also draws; nothing, and no line, if the record has none. */
bool charts_draw_profile(const struct record *record, const char *prefix, FILE *log, char *message);

#endif
