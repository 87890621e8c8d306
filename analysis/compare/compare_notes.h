/*
 * What a comparison says around its table: which files they are and in what they differ; what the verdicts
 * come to; and every row that the table leaves out, and why.
 */
#ifndef GTMARK_ANALYSIS_COMPARE_NOTES_H
#define GTMARK_ANALYSIS_COMPARE_NOTES_H

#include "analysis/compare/comparison.h"

#include <stdio.h>

/* The files, one a line by its letter, and what differs of how they were built and run. */
void compare_files(FILE *out, const struct comparison *c);

/* How many verdicts of each kind, and the geometric mean of the ratios. */
void compare_means(FILE *out, const struct comparison *c);

/* Rows of a file that are not ok, repeated, or without a partner; fields that they lack. */
void compare_left_over(FILE *out, const struct comparison *c, size_t file);

/* The comparison of two: table, means, and rows of the lead that are left over. Returns all verdicts. */
struct tally compare_two(FILE *out, const struct comparison *c);

/* "AMD EPYC"; where two would be alike, the file: "machine/bench" of results/machine/bench.json. */
void compare_label(char text[AXES_TEXT], const struct comparison *c, size_t file);

#endif
