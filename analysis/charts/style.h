/*
 * The styles of charts: gnuplot commands, the files of analysis/plots as strings. They are part of the
 * programs, so that a program that was copied or installed has them, and gnuplot runs no file that happens to
 * lie near one.
 */
#ifndef GTMARK_ANALYSIS_STYLE_H
#define GTMARK_ANALYSIS_STYLE_H

/* At the beginning and at the end of every chart's script, which draws files or SVG for a page; between them
 * one of the others. */
extern const char style_frame[], style_draw[], style_page[];

extern const char style_bars[], style_percent[], style_ranks[], style_roofline[], style_scaling[],
    style_stack[], style_map[];

#endif
