/*
 * Charts of a record: time, memory, work, throughput, and time and memory of encodings, over one axis with
 * logarithmic scales, or as bars if the axis has one value.
 */
#ifndef GTMARK_ANALYSIS_CHART_H
#define GTMARK_ANALYSIS_CHART_H

#include "analysis/charts/chart_script.h"
#include "analysis/charts/figure.h"
#include "analysis/record/record.h"
#include "analysis/record/schema.h"

/*
 * Adds the charts of the rows that are ok over `axis`, numeric (null: the first numeric axis that varies;
 * nodes, if none does): "time", "memory" and so on. A chart for which no row has a value is left out.
 */
void chart_add(struct figures *f, const struct record *record, const struct field *axis);

/* The same for charts[n] of any drawing. */
void chart_add_all(struct figures *f, const struct chart *charts, size_t n, const struct drawing *d);

#endif
