/* Bars of what several ranks do with their time: strong and weak scaling, measured or predicted. */
#ifndef GTMARK_ANALYSIS_RANK_CHART_H
#define GTMARK_ANALYSIS_RANK_CHART_H

#include "analysis/charts/figure.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/rank_bars.h"
#include "analysis/record/record.h"

/*
 * Draws PREFIX_strong and PREFIX_weak, of training steps if there are any, otherwise of inference.
 * CHART_SKIPPED, with an empty message, without rows of several ranks that can be compared with one;
 * otherwise see figures_draw.
 */
enum chart_result rank_chart_draw(const struct record *record, const char *prefix, char *message);

/*
 * "A training step on 8 ranks (ulysses) is 7.3 times as fast as on one, an efficiency of 91 %; most of what
 * is lost is exchange", in gnuplot's markup: of rank_bars_best. `name`: of its line; "": there is one. What
 * is lost most is said if the interval leaves no doubt.
 */
void rank_title(char text[CHART_TEXT], const struct rank_bars *b, const char *name);

#endif
