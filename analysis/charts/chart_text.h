/*
 * The texts of a chart: title, legend and notes on the series. Titles and legends use gnuplot's enhanced
 * markup for exponents.
 */
#ifndef GTMARK_ANALYSIS_CHART_TEXT_H
#define GTMARK_ANALYSIS_CHART_TEXT_H

#include "analysis/charts/series.h"
#include "analysis/record/record.h"
#include "analysis/tables/units.h"

enum { CHART_TEXT = 1024 };

/*
 * "Training step time grows as N^{1.4}: 12.3 ms at 100 nodes, 850 ms at 2000 nodes", of the first series;
 * "Training step: 12.3 ms at 100 nodes, 850 ms at 2000 nodes" if the exponent has no interval or a wide one.
 */
void chart_title(char text[CHART_TEXT], const struct series *first, const struct field *axis,
                 const char *what, enum unit_base base, const char *unit);

/* "forward, N^{1.32 ± 0.05}"; "forward" if the exponent has no interval. */
void chart_legend(char text[CHART_TEXT], const struct series *s, const struct field *axis);

/*
 * The machine: "AMD EPYC 7B13, cpu, 2 threads", from the record (null: left out) and the first row that is
 * ok.
 */
void chart_machine(char text[CHART_TEXT], const struct record *record, const struct rows *rows);

/* The work: the axes that do not vary, from the first row that is ok. */
void chart_work(char text[CHART_TEXT], const struct rows *rows);

/* "left out: 5000 nodes (oom)"; "" if all rows are ok. */
void chart_left_out(char text[CHART_TEXT], const struct rows *rows, const struct field *axis);

#endif
