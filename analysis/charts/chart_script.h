/*
 * The script of one chart: texts, ranges, ticks and data, and at its end the loading of plots/scaling.gp.
 */
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
    const char *name; /* end of the file names */
    const char *axis; /* what the y axis shows */
    const char *what; /* the same in the title */
    enum unit_base base;
    const char *unit;
    const char *note;  /* what points and bars are */
    const char *title; /* null: what the first series shows */
    size_t count;
    struct quantity quantities[CHART_QUANTITIES];
};

/* What charts are drawn of. */
struct drawing {
    const struct source *sources;
    size_t count;
    const struct rows *rows;     /* all rows of all sources */
    const struct record *record; /* whose machine is named; null: the names of the sources do */
    const struct field *axis;    /* numbers */
};

/*
 * Writes the script that draws `set`, which is not empty, into `pictures`.png and .svg with the look in the
 * file `look`. False if the stream failed.
 */
bool chart_script_write(FILE *out, const struct chart *c, const struct series_set *set,
                        const struct drawing *d, const char *pictures, const char *look);

#endif
