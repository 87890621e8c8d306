/* The JSON Schema of the lines of result files, generated from analysis/record/schema.def. */
#ifndef GTMARK_TESTS_SCHEMA_JSON_H
#define GTMARK_TESTS_SCHEMA_JSON_H

#include "analysis/record/value.h"

/*
 * The schema (draft 2020-12) of a record; #/$defs/row is that of a row, and #/$defs/line that of a line of
 * --format jsonl. Rows of older files may lack fields that were added later, but cannot have others.
 */
struct value *schema_json(void);

#endif
