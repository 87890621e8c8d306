/* The fields of --format csv: of the columns of a table that were asked for, else the main ones. */
#ifndef GTMARK_ANALYSIS_CSV_COLUMNS_H
#define GTMARK_ANALYSIS_CSV_COLUMNS_H

#include "analysis/tables/table.h"

enum { CSV_COLUMNS = 2 * AXES_MAX + 3 * TABLE_COLUMNS };

struct csv_columns {
    size_t count;
    const struct field *list[CSV_COLUMNS];
};

/* timed: what rows can have, by program_name. */
struct csv_columns csv_columns_of(const struct table *t, const bool timed[TIMED]);

#endif
