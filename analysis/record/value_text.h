/* For the files of this folder: JSON as text. */
#ifndef GTMARK_ANALYSIS_VALUE_TEXT_H
#define GTMARK_ANALYSIS_VALUE_TEXT_H

#include "analysis/record/scan.h"
#include "analysis/record/value.h"

/* As value_parse, of text[size] with a '\0' behind it; also finds the elements of an array (scan_json).
 * `found` is to be freed in either case. */
struct value *value_read(const char *text, size_t size, const char *array, struct scan *found, char *error);

/* Writes JSON, which may have any layout, with so many spaces for each level, from `depth` on for all but the
 * first line; on one line if `indent` is negative. */
void value_lay_out(const char *json, int indent, int depth, FILE *out);

#endif
