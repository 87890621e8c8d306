/* The columns of a run's table and CSV, from the command line alone, since rows are printed as they finish.
 */
#ifndef GTMARK_BENCH_REPORT_COLUMNS_H
#define GTMARK_BENCH_REPORT_COLUMNS_H

#include "analysis/tables/printer.h"
#include "bench/cli/options.h"

/* Sets what rows can have, axes and columns: those of --columns, or the usual ones. */
void columns_of_run(const struct options *o, struct printer *p);

#endif
