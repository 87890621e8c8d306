/*
 * The main findings of result files in words. Each is true of its data: where the rows leave open whether it
 * is, the sentence says so or is not there. Rows that are not ok, not checked or noisy support none.
 */
#ifndef GTMARK_ANALYSIS_FINDINGS_H
#define GTMARK_ANALYSIS_FINDINGS_H

#include "analysis/record/record.h"

#include <stdio.h>

/* Writes the findings of a record, each a sentence or more on one line. */
void findings_write(FILE *out, const struct record *record);

/* Prints the findings of a record, each as an item of a list, in lines of the screen's width. */
void findings_print(FILE *out, const struct record *record);

/* Prints where variants of these rows overtake each other, unchecked rows included, as items of a list. */
void findings_print_crossings(FILE *out, const struct rows *rows);

/* Prints which way to share the work among ranks is predicted to be best, as items of a list. */
void findings_print_ways(FILE *out, const struct rows *rows);

/* Whether work that the rows have more than once took the same time, as one more item below this heading. */
void findings_print_repeats(FILE *out, const struct rows *rows, const char *heading);

#endif
