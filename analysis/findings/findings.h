/*
 * The main findings of result files in words: each a thing to know or to do that is true of its data, and on
 * how many of how many rows it rests. It holds for every value in the ranges of their times; what these leave
 * open is not told, and rows that are not ok or not checked support nothing.
 */
#ifndef GTMARK_ANALYSIS_FINDINGS_H
#define GTMARK_ANALYSIS_FINDINGS_H

#include "analysis/record/record.h"

enum { FINDINGS_MAX = 5 };

/* Writes at most FINDINGS_MAX findings of n records, each on one line, after the name of its record if there
 * are several. */
void findings_write(FILE *out, const struct record *const *records, const char *const *names, size_t n);

/* Prints them as the items of a list, in lines of the screen's width. */
void findings_print(FILE *out, const struct record *const *records, const char *const *names, size_t n);

/* Prints where variants of these rows overtake each other, unchecked rows included, as items of a list. */
void findings_print_crossings(FILE *out, const struct rows *rows);

/*
 * Prints where more ranks no longer save memory, and where they suffice: a line for each set of rows that
 * differ only in ranks, with `weak` also in graphs or in nodes, of which there are as many for each rank;
 * nothing of a set on one number of ranks. limit: bytes that a rank may use; 0: none was given.
 */
void findings_print_rank_memory(FILE *out, const struct rows *rows, bool weak, double limit);

/* Prints which way to share the work among ranks is predicted to be best, as items of a list. */
void findings_print_ways(FILE *out, const struct rows *rows);

/* Prints how many times its predicted bound a measured time is, least and most of the programs of these rows,
 * which are in `where`; nothing if none has both. */
void findings_print_bounds(FILE *out, const struct rows *rows, const char *where);

#endif
