/* Bars of what several ranks do with their time: strong and weak scaling, measured or predicted. */
#ifndef GTMARK_ANALYSIS_RANK_CHART_H
#define GTMARK_ANALYSIS_RANK_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/record/record.h"

/* Adds "strong" and "weak", of training steps if there are any, otherwise of inference: of rows of several
 * ranks that can be compared with one. */
void rank_chart_add(struct figures *f, const struct record *record);

#endif
