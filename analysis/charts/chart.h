/*
 * Charts of a record: time, memory, work, throughput, and time and memory of encodings, over one axis,
 * log-log, with fitted power laws.
 */
#ifndef GTMARK_ANALYSIS_CHART_H
#define GTMARK_ANALYSIS_CHART_H

#include "analysis/charts/chart_script.h"
#include "analysis/charts/figure.h"
#include "analysis/record/record.h"
#include "analysis/record/row.h"
#include "analysis/record/schema.h"

/*
 * Draws the rows that are ok over `axis` (null: the first numeric axis that varies). Writes PREFIX_time.gp,
 * PREFIX_memory.gp and so on, self-contained scripts to redraw with `gnuplot FILE`, and .png and .svg of the
 * same names. A chart for which no row has a value is left out.
 *
 * plots_dir contains scaling.gp; null: analysis/plots above the program or in the current directory.
 * message[MESSAGE_SIZE] gets one line for the user: the files written, or why there are none (no gnuplot:
 * skipped).
 */
enum chart_result chart_draw(const struct record *record, const struct field *axis, const char *plots_dir,
                             const char *prefix, char *message);

enum { CHARTS_MAX = 6 };

/* The same for charts[n], at most CHARTS_MAX, of any drawing. */
enum chart_result chart_draw_all(const struct chart *charts, size_t n, const struct drawing *d,
                                 const char *plots_dir, const char *prefix, char *message);

#endif
