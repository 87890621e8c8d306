/*
 * Charts of a comparison over the swept axis: the time of a program with a line for each file, and ratios.
 */
#ifndef GTMARK_ANALYSIS_COMPARE_CHART_H
#define GTMARK_ANALYSIS_COMPARE_CHART_H

#include "analysis/charts/chart.h"
#include "analysis/compare/comparison.h"

/* Draws the matched rows as PREFIX_forward and PREFIX_step, and PREFIX_ratio, of each two files;
 * message[MESSAGE_SIZE] as figures_draw does. */
enum chart_result compare_chart(const struct comparison *c, const char *prefix, char *message);

#endif
