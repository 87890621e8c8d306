/* Quick measurements for searches: a few runs, without turns and checks. */
#ifndef GTMARK_BENCH_PROBE_TIMES_H
#define GTMARK_BENCH_PROBE_TIMES_H

#include "bench/row/workload.h"

/*
 * The median of five runs of each requested program, and in seconds[PROGRAMS] one run of the encoding; 0 for
 * what does not run. INFINITY for what does not fit, or is not finished within `patience` seconds, and for
 * all programs after it.
 */
void probe_times(const struct options *o, const struct config *c, double patience, double seconds[TIMED]);

#endif
