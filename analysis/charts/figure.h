/*
 * A picture of its own kind: a script of gnuplot with texts and data, which ends by loading its look, a file
 * of analysis/plots.
 */
#ifndef GTMARK_ANALYSIS_FIGURE_H
#define GTMARK_ANALYSIS_FIGURE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "analysis/charts/chart.h"

struct figure {
    const char *name;                           /* end of the file names */
    const char *look;                           /* file of analysis/plots */
    void (*write)(FILE *out, const void *what); /* texts and data */
};

/* Finds a file of analysis/plots: in plots_dir, or above the program's directory or in ours. */
bool figure_look(const char *plots_dir, const char *name, char look[PATH_MAX]);

/*
 * Writes PREFIX_name.gp and draws it as PREFIX_name.png and .svg. message[MESSAGE_SIZE] gets a line for the
 * user, as of chart_draw.
 */
enum chart_result figure_draw(const struct figure *f, const void *what, const char *plots_dir,
                              const char *prefix, char *message);

#endif
