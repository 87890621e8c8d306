/* Charts of gnuplot within a page. */
#ifndef GTMARK_ANALYSIS_SVG_H
#define GTMARK_ANALYSIS_SVG_H

#include <stdio.h>

/*
 * Writes the SVG of figures_svg as well-formed XML that needs no script and loads nothing: its ids begin with
 * `name`, which no other chart of the page has, and its hints are the titles of points, which browsers show
 * under the pointer.
 */
void svg_put(FILE *out, const char *svg, const char *name);

#endif
