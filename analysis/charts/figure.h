/*
 * Figures: each is a gnuplot script of texts and data, and a style that draws them. All of them are drawn at
 * the same time.
 */
#ifndef GTMARK_ANALYSIS_FIGURE_H
#define GTMARK_ANALYSIS_FIGURE_H

#include <stddef.h>
#include <stdio.h>

enum chart_result { CHART_DRAWN, CHART_SKIPPED, CHART_FAILED };

/* Of one record; and those that a run draws by itself, the first. */
enum { FIGURES_MAX = 20, FIGURES_OF_RUN = 3 };

/*
 * The styles of charts: gnuplot commands, the files of analysis/plots as strings. They are part of the
 * programs, so that a program that was copied or installed has them, and gnuplot runs no file that happens to
 * lie near one.
 */
/* At the beginning and at the end of every chart's script, which draws files or SVG for a page; between them
 * one of the others. */
extern const char style_frame[], style_draw[], style_page[];

extern const char style_bars[], style_percent[], style_ranks[], style_roofline[], style_scaling[],
    style_stack[], style_map[];

struct figure {
    char name[32]; /* suffix of the file names */
    char *script;
};

struct figures {
    size_t count;
    struct figure list[FIGURES_MAX];
};

/* Adds one: `write` writes the texts and data of `what`, the style is one of those. */
void figures_add(struct figures *f, const char *name, const char *style,
                 void (*write)(FILE *out, const void *what), const void *what);
void figures_free(struct figures *f);

/* Frees all but the first n. */
void figures_keep(struct figures *f, size_t n);

/*
 * Writes PREFIX_name.gp of each and draws PREFIX_name.png and .svg.
 * message[MESSAGE_SIZE] gets one line for the user: the files written, or why there are none. Without
 * gnuplot: CHART_SKIPPED. A picture that is not whole: CHART_FAILED.
 */
enum chart_result figures_draw(const struct figures *f, const char *prefix, char *message);

/*
 * Draws all of them as SVG in memory, in which points carry their values (gnuplot_put_label). svg[count] gets
 * gnuplot's text, to be freed, or null if it is not whole. CHART_SKIPPED: there is no gnuplot.
 */
enum chart_result figures_svg(const struct figures *f, char *svg[FIGURES_MAX]);

#endif
