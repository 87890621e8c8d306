/* The chart of a benchmark of ops: how near each kernel comes to the roofline. */
#ifndef GTMARK_ANALYSIS_KERNEL_CHART_H
#define GTMARK_ANALYSIS_KERNEL_CHART_H

#include "analysis/charts/chart.h"
#include "analysis/record/record.h"

/*
 * Draws PREFIX_roofline.png and .svg from the rows that are ok and have a percentage: a line for each op, a
 * mark for each variant, hollow with emptied caches. Arguments and message as of chart_draw.
 */
enum chart_result kernel_chart_draw(const struct record *record, const char *plots_dir, const char *prefix,
                                    char *message);

#endif
