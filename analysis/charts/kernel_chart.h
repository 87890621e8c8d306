/* The charts of a benchmark of ops: how close each kernel comes to the roofline. */
#ifndef GTMARK_ANALYSIS_KERNEL_CHART_H
#define GTMARK_ANALYSIS_KERNEL_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/charts/kernel_dots.h"
#include "analysis/record/record.h"

struct kernel_chart {
    const struct record *record;
    struct kernel_dots dots;
};

/*
 * Draws, of the rows that are ok and have a percentage of the roofline:
 *
 *     PREFIX_percent    a line for each op with that percentage, a marker for each variant, hollow for cold
 * caches PREFIX_roofline   GFLOP/s over FLOP/B below the roofs of the record's calibration, if it has one
 *
 * Arguments and message as in figures_draw.
 */
enum chart_result kernel_chart_draw(const struct record *record, const char *prefix, char *message);

/* The script of PREFIX_roofline, for plots/roofline.gp; `what` is a struct kernel_chart. */
void roofline_chart_write(FILE *out, const void *what);

/* Whether the record has the roofs. */
bool roofline_chart_possible(const struct kernel_chart *c);

#endif
