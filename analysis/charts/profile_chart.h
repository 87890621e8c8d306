/* Profiles: the time of each op and its time at the ceilings of the machine, and what is in memory. */
#ifndef GTMARK_ANALYSIS_PROFILE_CHART_H
#define GTMARK_ANALYSIS_PROFILE_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/record/record.h"

/*
 * Adds, of the rows with the most work that were profiled: "profile", bars of the step, or else of inference,
 * if it was measured; "timeline_step" and "timeline_forward", live bytes over the entries of the tape,
 * stacked by category.
 */
void profile_chart_add(struct figures *f, const struct record *record);

#endif
