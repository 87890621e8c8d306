/* What a program's time consists of, over an axis. */
#ifndef GTMARK_ANALYSIS_PARTS_CHART_H
#define GTMARK_ANALYSIS_PARTS_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/record/record.h"
#include "analysis/record/schema.h"

/*
 * Adds, of the rows that are ok and differ in nothing else, if there are two at least: "ops", the shares of
 * the ops in the profiled time of the step, or else of inference, measured or predicted; and over the batch
 * "phases", the time of a step by phase, for each graph. axis: as of chart_add.
 */
void parts_chart_add(struct figures *f, const struct record *record, const struct field *axis);

#endif
