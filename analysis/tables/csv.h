/*
 * Rows as comma-separated values (RFC 4180, lines end with a newline only): one column for each field of the
 * schema, in its order. Null is empty, the empty text is "", samples are joined by semicolons.
 */
#ifndef GTMARK_ANALYSIS_CSV_H
#define GTMARK_ANALYSIS_CSV_H

#include "analysis/record/row.h"

#include <stdio.h>

/* The line of column names. */
void csv_header(FILE *out);

/* A text as a value: quoted where it must be. */
void csv_text(FILE *out, const char *text);

void csv_row(FILE *out, const struct row *row);

#endif
