/* Bars of the time of each op in a profile, and of its time at the ceilings of the machine. */
#ifndef GTMARK_ANALYSIS_PROFILE_CHART_H
#define GTMARK_ANALYSIS_PROFILE_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/record/record.h"

/*
 * Draws PREFIX_profile: the step, or else the inference, with the most work that was profiled. CHART_SKIPPED,
 * with an empty message, if there is none; otherwise see figures_draw.
 */
enum chart_result profile_chart_draw(const struct record *record, const char *prefix, char *message);

#endif
