/* What surrounds the plot of every chart: a title, the machine, the name of the axis, and notes below. */
#ifndef GTMARK_ANALYSIS_FRAME_H
#define GTMARK_ANALYSIS_FRAME_H

#include "analysis/record/record.h"

enum {
    NOTES_MAX = 3,
    FRAME_COLUMNS = 98 /* letters of ordinary size that a chart is wide */
};

struct frame {
    const char *title, *axis;
    const struct record *record;  /* whose machine is named; null: none */
    const struct rows *rows;      /* whose work is told below */
    const char *notes[NOTES_MAX]; /* above that; null or "": none */
    size_t height; /* of the plot with its ticks and the name of the x axis, in pixels of the SVG */
};

/* Writes the texts, wrapped, as variables of plots/frame.gp. */
void frame_write(FILE *out, const struct frame *f);

/* The texts[n], of which some may be null, in lines of so many columns, to be freed; *lines: how many. */
char *frame_wrap(const char *const *texts, size_t n, int columns, size_t *lines);

#endif
