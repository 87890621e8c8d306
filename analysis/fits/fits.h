/*
 * How the time of the programs grows over the axes of a sweep, and whether it grows as their work does.
 *
 * For each program, each numeric axis that varies and each combination of the other varying axes: the power
 * law's exponent, the best simple law (growth.h), and a comparison with the exponent of the work over the
 * same rows. Fields are the FIT lines of schema.def.
 */
#ifndef GTMARK_ANALYSIS_FITS_H
#define GTMARK_ANALYSIS_FITS_H

#include "analysis/record/row.h"

#include <stdio.h>

/* Exponents of time and work that differ by more than this contradict each other. */
#define FITS_TOLERANCE 0.1

/* The fits of the rows that are ok: an array, empty if nothing was timed or no axis has two values. */
struct value *fits_of(const struct rows *rows);

/* Prints a line for each fit that has an interval, for below the table. */
void fits_print(const struct value *fits, FILE *out);

/* Warns of each fit whose time contradicts its work, and notes each that crosses levels of memory. */
void fits_warn(const struct value *fits, FILE *out);

#endif
