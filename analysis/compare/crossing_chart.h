/* The chart "crossover": the ratio of the times of two variants over the axis, where one overtakes the
 * other. */
#ifndef GTMARK_ANALYSIS_CROSSING_CHART_H
#define GTMARK_ANALYSIS_CROSSING_CHART_H

#include "analysis/charts/chart.h"
#include "analysis/compare/crossing.h"
#include "analysis/record/record.h"

/* Adds a chart of crossings along the axis of the first of them: every one, or those found. d: all but the
 * axis. */
void crossing_chart_draw(struct figures *f, const char *name, const struct crossings *all, bool every,
                         const struct drawing *d);

/* Adds "crossover" if the record has a crossing. */
void crossing_chart_add(struct figures *f, const struct record *record);

#endif
