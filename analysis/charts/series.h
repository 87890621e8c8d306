/*
 * The points of a chart: for every quantity and every combination of the other varying axes, a series of
 * points and the power law fitted to them.
 */
#ifndef GTMARK_ANALYSIS_SERIES_H
#define GTMARK_ANALYSIS_SERIES_H

#include "analysis/fits/fit.h"
#include "analysis/record/axes.h"
#include "analysis/record/row.h"

#include <stdbool.h>
#include <stddef.h>

/* A quantity of a row; low and high, its interval, may be null. */
struct quantity {
    const char *label;   /* in the legend: "step, resident"; may be empty */
    const char *subject; /* in the title: "Training step" */
    const char *path, *low, *high;
    bool measured; /* measured, where another quantity is the prediction: points without a line */
};

struct point {
    double x, y, low, high; /* low = high = y if there is no interval */
};

enum { SERIES_MAX = 8 };

struct series {
    const struct quantity *quantity;
    char group[AXES_TEXT]; /* source and the other axes' values; "" for one source if none varies */
    size_t count;
    struct point *points; /* ascending x, all positive */
    struct power_law fit;
};

struct series_set {
    size_t count;
    size_t points_dropped; /* of series beyond SERIES_MAX */
    struct series series[SERIES_MAX];
};

/* Rows drawn together, and a name that distinguishes them from other sources; null if there is only one. */
struct source {
    const char *name;
    const struct rows *rows;
};

/*
 * The series of quantities[n] over `axis`, from the rows of the sources that are ok; a quantity without
 * values has none. Groups begin with the source's name.
 */
struct series_set series_collect(const struct source *sources, size_t count, const struct field *axis,
                                 const struct quantity *quantities, size_t n);

void series_free(struct series_set *set);

#endif
