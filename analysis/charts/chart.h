/* Charts over an axis: points joined by lines or with the curve of their law, or bars if there is one x. */
#ifndef GTMARK_ANALYSIS_CHART_H
#define GTMARK_ANALYSIS_CHART_H

#include "analysis/charts/chart_text.h"
#include "analysis/charts/charts.h"
#include "analysis/charts/frame.h"

/* The data of charts. */
struct drawing {
    const struct source *sources;
    size_t count;
    const struct rows *rows;     /* of all sources */
    const struct record *record; /* its machine is named; null: the sources are */
    const struct field *axis;    /* numeric */
};

/* A chart and its series, of which there is at least one. */
struct chart_data {
    const struct chart *chart;
    const struct drawing *drawing;
    struct series_set set;
    char equal[CHART_TEXT]; /* the quantities that chart_drop_duplicates dropped */
};

enum {
    LINES_MAX = 6, /* most series over an axis that one can follow; the others are named */
    BARS_MAX = 24
};

/* Write a script for plots/scaling.gp and for plots/bars.gp; `what` is a struct chart_data. */
void chart_write_lines(FILE *out, const void *what);
void chart_write_bars(FILE *out, const void *what);

/* Drops each quantity that several groups have, with the same values within 1 %. */
void chart_drop_duplicates(struct chart_data *d);

/* Adds charts[n] of a drawing; one for which no row has a value is left out. */
void chart_add_all(struct figures *f, const struct chart *charts, size_t n, const struct drawing *d);

#endif
