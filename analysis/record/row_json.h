/*
 * Rows as JSON: dotted paths are nested objects, of the fields that the row has; "absent" is an object beside
 * them, of the reasons.
 */
#ifndef GTMARK_ANALYSIS_ROW_JSON_H
#define GTMARK_ANALYSIS_ROW_JSON_H

#include "analysis/record/buffer.h"
#include "analysis/record/row.h"

/* Adds the members of an object, without its brackets, after a bracket or a comma. */
void row_put_members(const struct row *row, struct buffer *out);

/* Reads a row from an object. Members that are no fields are ignored; what is wrong is the row's flaw. */
struct row *row_read(const struct value *object);

#endif
