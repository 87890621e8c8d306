/*
 * Figures: each is a gnuplot script of texts and data, and a style that draws them. One run of gnuplot draws
 * all of them.
 */
#ifndef GTMARK_ANALYSIS_FIGURE_H
#define GTMARK_ANALYSIS_FIGURE_H

#include <stddef.h>
#include <stdio.h>

enum chart_result { CHART_DRAWN, CHART_SKIPPED, CHART_FAILED };

enum { FIGURES_MAX = 8 };

struct figure {
    char name[32];                              /* suffix of the file names */
    const char *style;                          /* of style.h */
    void (*write)(FILE *out, const void *what); /* texts and data */
    const void *what;
};

/*
 * Writes PREFIX_name.gp for each of figures[n], at most FIGURES_MAX, and draws PREFIX_name.png and .svg.
 * message[MESSAGE_SIZE] gets one line for the user: the files written, or why there are none. Without
 * gnuplot: CHART_SKIPPED. A picture that is not whole: CHART_FAILED.
 */
enum chart_result figures_draw(const struct figure *figures, size_t n, const char *prefix, char *message);

#endif
