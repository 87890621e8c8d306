/*
 * Titles of charts: findings, in a sentence that is true of the data. Times that are noisy take no part, and
 * what the intervals leave open is not said.
 */
#ifndef GTMARK_ANALYSIS_TITLE_H
#define GTMARK_ANALYSIS_TITLE_H

#include "analysis/charts/frame.h"
#include "analysis/charts/series.h"

/*
 * Of the first series with a time that is not noisy:
 *
 *     A training step takes 12.3 ms at 100 nodes and 850 ms at 2000; between 1000 and 2000 it grows as
 *     N^1.7, its work as N^1.6
 *
 * The second half only if the exponent's interval is within 0.1 of it. In gnuplot's markup, and as long as
 * frame_fits allows: the second half is left out first, then the name of the series is shortened.
 */
void title_of_lines(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                    const struct field *axis);

/*
 * Of bars, all at one x: "A training step takes 84.3 ms and a forward pass 24.2 ms at 500 nodes", or the
 * least and the most of the first quantity, each with its name if its interval is apart from all others.
 */
void title_of_bars(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                   const struct field *axis);

#endif
