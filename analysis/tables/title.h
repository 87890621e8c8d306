/* The first line of a table: what was run, as far as it is the same in all rows. */
#ifndef GTMARK_ANALYSIS_TITLE_H
#define GTMARK_ANALYSIS_TITLE_H

#include "analysis/tables/table.h"

/*
 * Prints "node scaling: gps, 6 layers, hidden size 256, dense attention + gin, er degree 5; 2 threads,
 * avx512": the benchmark, the model, other axes that are not at their default, and where it ran. Nothing
 * without rows.
 */
void title_print(const struct table *t, const struct value *head, const struct table_line *lines, size_t n);

#endif
