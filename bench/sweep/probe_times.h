/* Times for searches: of a few runs, without turns and checks, and predicted. */
#ifndef GTMARK_BENCH_PROBE_TIMES_H
#define GTMARK_BENCH_PROBE_TIMES_H

#include "bench/machine/calibration.h"
#include "bench/row/workload.h"

/*
 * The median of five runs of each requested program, and in seconds[PROGRAMS] one run of the encoding; 0 for
 * what does not run. INFINITY for what does not fit, or is not finished within `patience` seconds, and for
 * all programs after it. Returns whether that was for want of time.
 */
bool probe_times(const struct options *o, const struct config *c, double patience, double seconds[TIMED]);

/* The sum of the least times of a tape's entries and of their launches, P.predicted.time of a row; NAN
 * without ceilings. */
double predicted_time(struct tape *t, const struct calibration *ceilings);

/* Of each requested program, 0 of others. False if the graph cannot be planned, or without ceilings. */
bool predicted_times(const struct options *o, const struct config *c, const struct calibration *ceilings,
                     double seconds[PROGRAMS]);

#endif
