/* The script of one chart: texts, ranges, ticks and data, then the load of plots/scaling.gp. */
#ifndef GTMARK_ANALYSIS_CHART_SCRIPT_H
#define GTMARK_ANALYSIS_CHART_SCRIPT_H

#include "analysis/charts/series.h"
#include "analysis/record/record.h"
#include "analysis/tables/units.h"

#include <stdbool.h>
#include <stdio.h>

enum { CHART_QUANTITIES = 4 };

/* A kind of chart. */
struct chart {
    const char *name; /* file name suffix */
    const char *axis; /* what the y axis shows */
    const char *what; /* the same, for the title */
    enum unit_base base;
    const char *unit;
    const char *note;  /* what points and bars mean */
    const char *title; /* null: made from the first series */
    size_t count;
    struct quantity quantities[CHART_QUANTITIES];
};

/* The data of charts. */
struct drawing {
    const struct source *sources;
    size_t count;
    const struct rows *rows;     /* of all sources */
    const struct record *record; /* its machine is named; null: the sources are */
    const struct field *axis;    /* numeric */
};

/*
 * Writes the script that draws `set`, not empty, to `pictures`.png and .svg in the style of the file `look`.
 * False if writing failed.
 */
bool chart_script_write(FILE *out, const struct chart *c, const struct series_set *set,
                        const struct drawing *d, const char *pictures, const char *look);

#endif
