/*
 * The text around the table of a comparison: the files and how they differ, the numbers of verdicts, and the
 * rows that are not in the table.
 */
#ifndef GTMARK_ANALYSIS_COMPARE_NOTES_H
#define GTMARK_ANALYSIS_COMPARE_NOTES_H

#include "analysis/compare/comparison.h"

#include <stdio.h>

/* One line for each file, and the differences in how they were built and run. */
void compare_files(FILE *out, const struct comparison *c);

/* The number of verdicts of each kind, and the geometric mean of the ratios, for each file and program. */
void compare_means(FILE *out, const struct comparison *c);

/* Whether row i of a file is not ok or has no partner: then text[MESSAGE_SIZE] says which. */
bool compare_lacks(const struct comparison *c, size_t file, size_t i, char *text);

/* The rows of a file that are not ok, unchecked, or without a partner. */
void compare_left_over(FILE *out, const struct comparison *c, size_t file);

/* Prints a comparison of two: table, means, and leftover rows of the lead. Returns the tally of all pairs. */
struct tally compare_two(FILE *out, const struct comparison *c);

/* "Zen 4", or the whole name; if another file has the same name, "machine/bench" for
 * results/machine/bench.json. */
void compare_label(char text[AXES_TEXT], const struct comparison *c, size_t file);

#endif
