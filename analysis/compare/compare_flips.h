/* Where the order of two files flips along an axis. */
#ifndef GTMARK_ANALYSIS_COMPARE_FLIPS_H
#define GTMARK_ANALYSIS_COMPARE_FLIPS_H

#include "analysis/compare/comparison.h"

#include <stdio.h>

/*
 * A line for each two files, program and axis where the verdict changes once: "step: Zen 4 is 1.05 times
 * faster than Zen 3 at 100 nodes, 1.28 times slower at 5000; they cross near 250". Nothing where it does not
 * change, or where the rows leave that open.
 */
void compare_flips(FILE *out, const struct comparison *c);

#endif
