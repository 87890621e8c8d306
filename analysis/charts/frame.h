/*
 * What surrounds the plot of every chart: a title of up to two lines, the machine, the name
 * of the axis, a legend, and notes below. Sizes are in pixels of the SVG, which is CHART_WIDTH wide.
 */
#ifndef GTMARK_ANALYSIS_FRAME_H
#define GTMARK_ANALYSIS_FRAME_H

#include <stddef.h>
#include <stdio.h>

enum { CHART_TEXT = 2048, CHART_WIDTH = 900, NOTES_MAX = 4 };

struct frame {
    const char *title, *subtitle, *axis; /* the title has gnuplot's markup, the others have none */
    const char *notes[NOTES_MAX];        /* below; null or "": none */
    size_t legend_rows;
    size_t height; /* of the plot with its ticks and the name of the x axis */
};

/* Writes the texts, wrapped, as variables of plots/frame.gp. */
void frame_write(FILE *out, const struct frame *f);

/* The width of the widest possible entry of a legend, in em. */
double frame_legend_width(void);

/* The rows of a legend of n entries, the widest of this width in em: as many columns as fit. */
size_t frame_legend_rows(size_t n, double widest);

#endif
