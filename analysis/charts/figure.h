/*
 * A figure with a style of its own: a gnuplot script with texts and data, which ends by loading its style, a
 * file of analysis/plots.
 */
#ifndef GTMARK_ANALYSIS_FIGURE_H
#define GTMARK_ANALYSIS_FIGURE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum chart_result { CHART_DRAWN, CHART_SKIPPED, CHART_FAILED };

struct figure {
    const char *name;                           /* file name suffix */
    const char *look;                           /* file of analysis/plots */
    void (*write)(FILE *out, const void *what); /* texts and data */
};

/* Finds a file of analysis/plots: in plots_dir, else above the program's directory or in the current one. */
bool figure_look(const char *plots_dir, const char *name, char look[PATH_MAX]);

/*
 * Writes PREFIX_name.gp and draws PREFIX_name.png and .svg. message[MESSAGE_SIZE] gets one line for the user,
 * as in chart_draw.
 */
enum chart_result figure_draw(const struct figure *f, const void *what, const char *plots_dir,
                              const char *prefix, char *message);

#endif
