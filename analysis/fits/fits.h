/*
 * How the time of the programs grows over the axes of a sweep, and whether it grows as their work does.
 *
 * For each program, each axis with numbers that varies and each combination of the others that do: the power
 * law's exponent, the best simple law (growth.h), and the exponent set against that of the work over the same
 * rows. Fields are the FIT lines of schema.def.
 */
#ifndef GTMARK_ANALYSIS_FITS_H
#define GTMARK_ANALYSIS_FITS_H

#include "analysis/record/row.h"

#include <stdio.h>

/* The difference of the exponents of time and work from which they contradict each other. */
#define FITS_TOLERANCE 0.1

/* The fits of the rows that are ok: an array, empty where nothing was timed or no axis has two values. */
struct value *fits_of(const struct rows *rows);

/* A line for each fit that has an interval: for people, below the table. Prints nothing without any. */
void fits_print(const struct value *fits, FILE *out);

/*
 * What a reader must not miss: a line for each fit whose time contradicts its work; and for each that crosses
 * levels, in a lower voice, which.
 */
void fits_warn(const struct value *fits, FILE *out);

#endif
