/* Which ops make the difference between two times. */
#ifndef GTMARK_ANALYSIS_COMPARE_PROFILE_H
#define GTMARK_ANALYSIS_COMPARE_PROFILE_H

#include "analysis/compare/comparison.h"

#include <stdio.h>

/*
 * A line for each program that is faster or slower and was profiled in both files: the ops with the largest
 * differences. An op has no interval of its own; the verdict is the program's.
 */
void compare_profiles(FILE *out, const struct comparison *c);

#endif
