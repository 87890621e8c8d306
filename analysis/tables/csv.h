/*
 * Rows as comma-separated values (RFC 4180, but lines end with a newline only): a column for each of
 * `count` fields; fields null: for every field of the schema. Null is empty, the empty text is "",
 * the items of a list are joined by semicolons.
 */
#ifndef GTMARK_ANALYSIS_CSV_H
#define GTMARK_ANALYSIS_CSV_H

#include "analysis/record/row.h"

/* Writes the line of column names. */
void csv_header(FILE *out, const struct field *const *fields, size_t count);

/* Writes a text as a value, quoted if necessary. */
void csv_text(FILE *out, const char *text);

void csv_row(FILE *out, const struct row *row, const struct field *const *fields, size_t count);

#endif
