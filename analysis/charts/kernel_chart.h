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
 * Adds, of the rows that are ok and have a percentage of the roofline, "percent": a line with it for each of
 * the KERNELS_NAMED ops furthest from their roofline, a marker for each variant, hollow for cold caches; and,
 * if the record has the roofs, "roofline": GFLOP/s over FLOP/B of all kernels, these ops by name.
 */
void kernel_chart_add(struct figures *f, const struct record *record);

/* The script of "roofline", for plots/roofline.gp; `what` is a struct kernel_chart. */
void roofline_chart_write(FILE *out, const void *what);

/* Whether the record has the roofs. */
bool roofline_chart_possible(const struct kernel_chart *c);

#endif
