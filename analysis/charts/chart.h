/*
 * Charts of a record: time, memory, work, throughput, and time and memory of encodings, over one axis with
 * logarithmic scales, or as bars if the axis has one value.
 */
#ifndef GTMARK_ANALYSIS_CHART_H
#define GTMARK_ANALYSIS_CHART_H

#include "analysis/charts/chart_script.h"
#include "analysis/charts/figure.h"
#include "analysis/record/record.h"
#include "analysis/record/row.h"
#include "analysis/record/schema.h"

/*
 * Draws the rows that are ok over `axis`, numeric (null: the first numeric axis that varies; nodes, if none
 * does). Draws PREFIX_time, PREFIX_memory and so on: see figures_draw. A chart for which no row has a value
 * is left out.
 */
enum chart_result chart_draw(const struct record *record, const struct field *axis, const char *prefix,
                             char *message);

enum { CHARTS_MAX = 6 };

/* The charts of a record, in order. */
extern const struct chart chart_kinds[CHARTS_MAX];

/* The same for charts[n], at most CHARTS_MAX, of any drawing. */
enum chart_result chart_draw_all(const struct chart *charts, size_t n, const struct drawing *d,
                                 const char *prefix, char *message);

#endif
