/* The JSON Schema of result files, made from analysis/record/schema.def. */
#ifndef GTMARK_TESTS_SCHEMA_JSON_H
#define GTMARK_TESTS_SCHEMA_JSON_H

#include "analysis/record/value.h"

/*
 * The schema (draft 2020-12) of a record; #/$defs/row is that of a row, and #/$defs/line that of a line of
 * --format jsonl. A row of an older file may lack fields that came later; none may have another name or type.
 */
struct value *schema_json(void);

#endif
