/* Internal to this folder: JSON as text. */
#ifndef GTMARK_ANALYSIS_VALUE_TEXT_H
#define GTMARK_ANALYSIS_VALUE_TEXT_H

#include "analysis/record/scan.h"
#include "analysis/record/value.h"
#include "analysis/statistics/allocate.h"

/* Like value_parse, for text[size]. */
struct value *value_parse_part(const char *text, size_t size, char *error);

/* Adds a text of this length, which is UTF-8, in quotes, as cJSON prints it. */
void value_put_text(const char *text, size_t length, struct buffer *out);

/*
 * Writes JSON of any layout with `indent` spaces per level, from level `depth` on for all lines but the
 * first; on one line if `indent` is negative.
 */
void value_lay_out(const char *json, int indent, int depth, FILE *out);

#endif
