/* The columns of a table if none were asked for. */
#ifndef GTMARK_ANALYSIS_CHOICE_H
#define GTMARK_ANALYSIS_CHOICE_H

#include "analysis/tables/table.h"

/*
 * Adds them, after the axes: times, then of the training step, if it was timed, or else of inference the
 * rate, the share of the roofline and the memory; throughput where the axes are about batches. `timed`: what
 * rows can have, by program_name; planned: nothing was run. Columns that no row has are left out when the
 * table is printed.
 */
void table_choose(struct table *t, const bool timed[TIMED], bool planned);

#endif
