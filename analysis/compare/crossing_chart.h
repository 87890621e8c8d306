/* The chart "crossover": the ratio of the times of two variants over the axis, where one overtakes the
 * other. */
#ifndef GTMARK_ANALYSIS_CROSSING_CHART_H
#define GTMARK_ANALYSIS_CROSSING_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/record/record.h"

/* Adds "crossover" if the record has a crossing. */
void crossing_chart_add(struct figures *f, const struct record *record);

#endif
