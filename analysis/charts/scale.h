/* Logarithmic scales of charts over an axis: their ranges and ticks. */
#ifndef GTMARK_ANALYSIS_SCALE_H
#define GTMARK_ANALYSIS_SCALE_H

#include "analysis/charts/series.h"
#include "analysis/charts/ticks.h"

struct scale {
    double low, high;
    size_t count;
    double ticks[TICKS_MAX];
};

/* The scales of x, with ticks at the measured values, and of y, with the intervals, for series[count]; a
 * margin is included. */
struct scale scale_of_x(const struct series *series, size_t count);
struct scale scale_of_y(const struct series *series, size_t count, enum unit_base base);

#endif
