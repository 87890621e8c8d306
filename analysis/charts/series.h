/*
 * The points of a chart: a series for every quantity and every combination of the other varying axes, with
 * the law of its times.
 */
#ifndef GTMARK_ANALYSIS_SERIES_H
#define GTMARK_ANALYSIS_SERIES_H

#include "analysis/fits/fits.h"
#include "analysis/tables/units.h"

enum series_kind {
    SERIES_EXACT,
    SERIES_MEASURED, /* of a quantity that is exact: drawn open, without a line */
    SERIES_TIME,
    SERIES_RATE, /* a count over the time */
};

struct quantity {
    const char *label;   /* in the legend: "step, resident"; may be empty */
    const char *subject; /* in the title: "a training step" */
    const char *path;    /* of a field of the rows */
    enum series_kind kind;
    size_t program; /* whose quantity it is: TIMED_STEP */
};

enum { CHART_QUANTITIES = 4 };

/* A kind of chart. */
struct chart {
    const char *name; /* file name suffix */
    const char *axis; /* what the y axis shows */
    const char *noun; /* in the title, before the quantities' subjects: "Time" */
    enum unit_base base;
    const char *unit;
    const char *note;  /* what points mean */
    const char *title; /* null: made from the series */
    bool limits;       /* lines at the memory of common GPUs, where values come near them */
    bool no_equals;    /* quantities that are equal in all groups are left out */
    size_t count;
    struct quantity quantities[CHART_QUANTITIES];
};

struct point {
    struct law_point at; /* low = high = y if there is no interval */
    bool noisy;          /* the time */
};

struct series {
    const struct quantity *quantity;
    char group[AXES_TEXT]; /* source and the other axes' values; "" for one source if none varies */
    size_t count;
    struct point *points; /* ascending x, all positive */
    struct law law;       /* of the fit of the times; terms 0: none */
};

struct series_set {
    size_t count;
    struct series *series;
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

/* Whether all points have the same x. */
bool series_has_one_x(const struct series_set *set);

/* Whether the row has a place on a logarithmic scale of the axis. */
bool series_has_place(const struct row *row, const struct field *axis);

#endif
