/* All charts of a record. */
#ifndef GTMARK_ANALYSIS_CHARTS_H
#define GTMARK_ANALYSIS_CHARTS_H

#include "analysis/charts/figure.h"
#include "analysis/record/record.h"
#include "analysis/record/schema.h"

/*
 * Adds the charts of kernels, ranks, the fastest attention, parts of the time, profiles, and those over
 * `axis` (null: the first numeric axis that varies), those first that say most; of ops the latter only if
 * such an axis varies, or if there are few.
 */
void charts_add(struct figures *f, const struct record *record, const struct field *axis);

#endif
