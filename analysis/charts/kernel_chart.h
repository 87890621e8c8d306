/* The chart of a benchmark of ops: how close each kernel comes to the roofline. */
#ifndef GTMARK_ANALYSIS_KERNEL_CHART_H
#define GTMARK_ANALYSIS_KERNEL_CHART_H

#include "analysis/charts/chart.h"
#include "analysis/record/record.h"

/*
 * Draws PREFIX_roofline.png and .svg from the rows that are ok and have a percentage: a line for each op, a
 * marker for each variant, hollow for cold caches. Arguments and message as in chart_draw.
 */
enum chart_result kernel_chart_draw(const struct record *record, const char *plots_dir, const char *prefix,
                                    char *message);

#endif
