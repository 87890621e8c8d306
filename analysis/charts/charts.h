/* The charts of a record: adding one is a line here, and one in charts.c. */
#ifndef GTMARK_ANALYSIS_CHARTS_H
#define GTMARK_ANALYSIS_CHARTS_H

#include "analysis/charts/figure.h"
#include "analysis/record/record.h"

/*
 * Adds charts of the rows that are ok; none for which no row has a value. axis: a numeric one over which to
 * draw (null: the first that varies; nodes, if none does).
 */
typedef void chart_adder(struct figures *f, const struct record *record, const struct field *axis);

/* All of them, those first that say most. */
chart_adder charts_add;

/* Over the axis with logarithmic scales, or as bars if it has one value, "time", "memory" and so on: time,
 * memory, work, throughput, and time and memory of encodings; of ops only if such an axis varies, or if there
 * are few. */
chart_adder chart_add;

/* Of ops "percent": a line with the percentage of the roofline for each of the KERNELS_NAMED ops furthest
 * from it, a marker for each variant, hollow for cold caches; and, if the record has the roofs, "roofline":
 * GFLOP/s over FLOP/B of all kernels, these ops by name. */
chart_adder kernel_chart_add;

/* Of rows of several ranks that can be compared with one "strong" and "weak": bars of what the ranks do with
 * their time in training steps, or else in inference. */
chart_adder rank_chart_add;

/* "winner": which attention is fastest, over nodes and neighbours. */
chart_adder winner_chart_add;

/* Of rows that differ in nothing else, if there are two at least, "ops": the shares of the ops in the
 * profiled time of the step, or else of inference, measured or predicted; and over the batch "phases": the
 * time of a step by phase, for each graph. */
chart_adder parts_chart_add;

/* Of the rows with the most work that were profiled, "profile": the time of each op of the step, or else of
 * inference, if it was measured, and its time at the peak rates; "timeline_step" and "timeline_forward": live
 * bytes over the entries of the tape, stacked by category. */
chart_adder profile_chart_add;

#endif
