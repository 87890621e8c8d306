/* The frame of a chart as inline SVG: two scales with their grids and ticks. Colours are those of page.css.
 */
#ifndef GTMARK_ANALYSIS_PLOT_H
#define GTMARK_ANALYSIS_PLOT_H

#include "analysis/charts/scale.h"

#include <stdbool.h>
#include <stdio.h>

struct plot {
    const char *name, *x_title, *y_title;
    struct scale x, y;
    bool linear;         /* else both scales are logarithmic */
    enum unit_base base; /* of the ticks of y */
    const char *unit;    /* "": none */
};

void plot_begin(FILE *out, const struct plot *p);
void plot_end(FILE *out);

/* The place of a value in the picture; values beyond the scales are put at their ends. */
double plot_x(const struct plot *p, double x);
double plot_y(const struct plot *p, double y);

/*
 * A point that shows its value on hover: begin, then its text by html functions, then end.
 * A hollow one is a measurement of an exact quantity, a crossed one is noisy.
 */
enum point_look { POINT_FILLED, POINT_HOLLOW, POINT_CROSSED };
void plot_begin_point(FILE *out);
void plot_end_point(FILE *out, const struct plot *p, double x, double y, enum point_look look);

#endif
