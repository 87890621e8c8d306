/* How the ratio of two files goes along an axis, and where their order flips. */
#ifndef GTMARK_ANALYSIS_COMPARE_FLIPS_H
#define GTMARK_ANALYSIS_COMPARE_FLIPS_H

#include "analysis/compare/comparison.h"
#include "analysis/compare/crossing.h"

#include <stdio.h>

/* For each two files, program, numeric axis and values of the other axes: the second file over the first. */
struct crossings compare_crossings(const struct comparison *c);

/*
 * A line for each where the verdict changes once: "step: Zen 4 is 1.05 times faster than Zen 3 at 100 nodes,
 * 1.28 times slower at 5000; they cross near 250". Nothing where it does not change, or where the rows leave
 * that open.
 */
void compare_flips(FILE *out, const struct comparison *c);

#endif
