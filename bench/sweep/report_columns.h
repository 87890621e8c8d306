/* The columns of a run's table and CSV, from the command line alone, since rows are printed as they finish.
 */
#ifndef GTMARK_BENCH_REPORT_COLUMNS_H
#define GTMARK_BENCH_REPORT_COLUMNS_H

#include "analysis/tables/table.h"
#include "bench/cli/options.h"

/* Sets axes and columns: those of --columns, or those of the benchmark, under --device meta of a plan first.
 */
void columns_of_table(const struct options *o, struct table *t);

enum { CSV_COLUMNS = 2 * AXES_MAX + 3 * TABLE_COLUMNS };

/* The fields of --format csv: those of --columns, or the main ones. Returns how many. */
size_t columns_of_csv(const struct options *o, const struct table *t,
                      const struct field *fields[CSV_COLUMNS]);

#endif
