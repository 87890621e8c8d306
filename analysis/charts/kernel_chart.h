/* The charts of a benchmark of ops: how close each kernel comes to the roofline. */
#ifndef GTMARK_ANALYSIS_KERNEL_CHART_H
#define GTMARK_ANALYSIS_KERNEL_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/charts/frame.h"
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

enum { ROOFS_MAX = 8 };

struct roofs {
    double peak;    /* GFLOP/s */
    size_t kernels; /* compared with them */
    size_t count;
    const char *name[ROOFS_MAX];
    double bandwidth[ROOFS_MAX]; /* GB/s */
};

/* The roofs of the calibration with which most kernels were compared; those of other states may differ. */
struct roofs roofline_roofs(const struct kernel_chart *c);

/* "The fastest kernel reaches 185 of 424 GFLOP/s (linear, simd); memory bounds 30 of the 41 ops with FLOPs",
 * in gnuplot's markup. */
void roofline_title(char text[CHART_TEXT], const struct kernel_dots *d, const struct roofs *roofs);

/* The same about the percentages of default kernels; noisy times take no part. */
void percent_title(char text[CHART_TEXT], const struct kernel_dots *d);

#endif
