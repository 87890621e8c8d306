/* Tick marks on axes: round values far enough apart, and their labels. */
#ifndef GTMARK_ANALYSIS_TICKS_H
#define GTMARK_ANALYSIS_TICKS_H

#include "analysis/tables/units.h"

#include <stddef.h>

enum { TICKS_MAX = 16 };

/*
 * Puts round values in [low, high], 0 < low < high, ascending, into ticks[TICKS_MAX]; returns how many.
 * Powers of the base if they suffice, finer steps if the range is narrow.
 */
size_t ticks_round(double low, double high, enum unit_base base, double ticks[TICKS_MAX]);

/* The same of multiples of a round step, for ranges too narrow for powers and for linear axes; 0 <= low. */
size_t ticks_even(double low, double high, enum unit_base base, double ticks[TICKS_MAX]);

/*
 * Selects those of the positive values[n], in any order, that are far enough apart on an axis from low to
 * high.
 */
size_t ticks_at(const double *values, size_t n, double low, double high, double ticks[TICKS_MAX]);

/* The label of a number without unit, the shorter form: "500", "1k", "1.5k", "1024"; "0.25" without a prefix.
 */
void ticks_label(char text[UNITS_TEXT], double value);

#endif
