/*
 * Figures: each is a gnuplot script with texts and data, which ends by loading its style, a file of
 * analysis/plots. One run of gnuplot draws all of them.
 */
#ifndef GTMARK_ANALYSIS_FIGURE_H
#define GTMARK_ANALYSIS_FIGURE_H

#include <stddef.h>
#include <stdio.h>

enum chart_result { CHART_DRAWN, CHART_SKIPPED, CHART_FAILED };

enum { FIGURES_MAX = 8 };

struct figure {
    char name[32];                              /* suffix of the file names */
    const char *look;                           /* file of analysis/plots */
    void (*write)(FILE *out, const void *what); /* texts and data */
    const void *what;
};

/*
 * Writes PREFIX_name.gp for each of figures[n], at most FIGURES_MAX, and draws PREFIX_name.png and .svg.
 * plots_dir contains the styles; null: analysis/plots above the program or in the current directory.
 * message[MESSAGE_SIZE] gets one line for the user: the files written, or why there are none. Without
 * gnuplot or the styles: CHART_SKIPPED. A picture that is not whole: CHART_FAILED.
 */
enum chart_result figures_draw(const struct figure *figures, size_t n, const char *plots_dir,
                               const char *prefix, char *message);

#endif
