/* Sets fields in a program's group of a row: "time.cpu" of a step is the row's "step.time.cpu". */
#ifndef GTMARK_BENCH_PROGRAM_FIELDS_H
#define GTMARK_BENCH_PROGRAM_FIELDS_H

#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "models/layers/model.h"

/* The full path of the field; returns `text`. */
const char *program_path(char text[SCHEMA_PATH], enum program_kind kind, const char *field);

/* A negative count exceeds 63 bits, and becomes null. */
void program_set_count(struct row *row, enum program_kind kind, const char *field, int64_t value);
void program_set_real(struct row *row, enum program_kind kind, const char *field, double value);
void program_set_text(struct row *row, enum program_kind kind, const char *field, const char *value);
void program_omit(struct row *row, enum program_kind kind, const char *field, const char *reason);

/* The same for a field of the row itself. */
void row_set_count_or_null(struct row *row, const char *field, int64_t value);

#endif
