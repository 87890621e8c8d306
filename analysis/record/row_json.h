/* A row as text. */
#ifndef GTMARK_ANALYSIS_ROW_JSON_H
#define GTMARK_ANALYSIS_ROW_JSON_H

#include "analysis/record/row.h"

/* The row as JSON, formatted as in a file; owned by the row. */
const char *row_json(const struct row *row);

#endif
